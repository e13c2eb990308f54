from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_codegenie.errors import ProjectError
from pytest_codegenie.harness.foundry.prompt_loader import PromptLoader


def load(tmp_path: Path, text: str | bytes) -> list[dict[str, object]]:
    path = tmp_path / "prompt.md"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return PromptLoader(path).load()


def test_prompts_come_in_order_with_title_and_metadata(tmp_path: Path) -> None:
    text = (
        "# Title\nfor people\n\n"
        "## P-001: Parse a line\n\n"
        "```yaml metadata\nmax_retries: 2\ncoverage: 80\n```\n"
        "\nDo it.\n\n### Deeper\n- a\n\n"
        "## P-002\r\nand more\r\n"
    )
    assert load(tmp_path, text) == [
        {
            "id": "P-001",
            "content": "Do it.\n\n### Deeper\n- a",
            "metadata": {
                "title": "Parse a line",
                "max_retries": 2,
                "coverage": 80.0,
            },
        },
        {"id": "P-002", "content": "and more", "metadata": {}},
    ]


def test_headings_in_fences_are_content(tmp_path: Path) -> None:
    text = "## P-001\n````md\n## P-002\n```\n# x\n````\nend\n"
    (prompt,) = load(tmp_path, text)
    assert prompt["content"] == "````md\n## P-002\n```\n# x\n````\nend"


def test_a_directory_stands_for_its_prompt_file(tmp_path: Path) -> None:
    (tmp_path / "prompt.md").write_text("## P-001\nx\n", "utf-8")
    assert PromptLoader(tmp_path).load()[0]["id"] == "P-001"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("## P-001\nx\n## P-003\ny", 3, "P-003 leaves numbers out.*has to be P-002"),
        ("## P-002\nx", 1, "the first prompt has to be P-001"),
        ("## P-001\nx\n## P-002\ny\n## P-001\nz", 5, "P-001 stands twice.* line 1"),
        ("\n## Other\nx", 2, "'## Other' is no heading of a prompt"),
        ("## P-1\nx", 1, "with three digits"),
        ("##\nx", 1, "no heading of a prompt"),
        ("## P-001\n\n## P-002\nx", 1, "P-001 is empty"),
        ("## P-001\n```yaml metadata\n```\n", 1, "P-001 is empty"),
        ("## P-001\nx\n```\ny", 3, "the fence '```' is not closed"),
        ("## P-001\nx\n# Top", 3, "a heading of the first level"),
        ("## P-001\nx\n\nTitle\n---\n", 4, "'Title' is a heading by the line below"),
        (
            "## P-001\n```yaml metadata\n\nmax_retrys: 1\n```\nx",
            4,
            "max_retrys: unknown key .did you mean 'max_retries'",
        ),
        ("## P-001\n```yaml metadata\ncoverage: 101\n```\nx", 3, "coverage:.*got 101"),
        ("## P-001\n```yaml metadata\n- a\n```\nx", 3, "must be keys and values"),
        ("## P-001\n```yaml metadata\na: [\n```\nx", None, "not usable YAML"),
        ("## P-001\nx\n```yaml metadata\na: 1\n```", 3, "has to be the first thing"),
        ("## P-001\n```yaml metadata x\na: 1\n```\ny", 2, "called exactly that"),
        ("nothing", None, "has no prompt"),
        (b"\xef\xbb\xbf## P-001\nx", None, "byte order mark"),
        (b"## P-001\n\xff", None, r"not UTF-8 \(line 2"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(
    tmp_path: Path, text: Any, line: int | None, words: Any
) -> None:
    with pytest.raises(ProjectError, match=words) as caught:
        load(tmp_path, text)
    assert line in (None, caught.value.line)
    assert caught.value.path.name == "prompt.md"


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match=r"prompt\.md: missing"):
        PromptLoader(tmp_path / "prompt.md").load()
