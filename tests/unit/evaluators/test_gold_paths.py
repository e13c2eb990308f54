"""What the reference solution touches among tests is not put back."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_codegenie.evaluators.protection import is_solved
from pytest_codegenie.evaluators.protection import protect_python
from pytest_codegenie.evaluators.protocol import Judgement
from pytest_codegenie.evaluators.steering import ANY
from pytest_codegenie.evaluators.steering import put_back
from pytest_codegenie.workspaces.host import HostWorkspace


GOLD = frozenset(
    {
        "Makefile",
        "jest.config.js",
        "lib/code.py",
        "testing/helper.py",
        "testing/link.py",
        "tests/conftest.py",
        "tests/helper.js",
        "tests/test_asked.py",
        "tests/test_named.py",
    }
)


def judgement(base: Path, scratch: Path) -> Judgement:
    return Judgement(
        instance_id="first",
        base=base,
        overlay=None,
        fail_to_pass=("tests/test_asked.py::test_x", "lib/code.py::lib.code"),
        pass_to_pass=(),
        command="pytest tests/test_named.py",
        timeout_seconds=1,
        scratch=scratch,
        log_path=None,
        gold_paths=GOLD,
    )


@pytest.mark.parametrize(
    ("path", "solved"),
    [
        ("testing/helper.py", True),
        ("testing/other.py", False),
        ("tests/conftest.py", True),
        # A doctest is asked for, and is in the code itself.
        ("lib/code.py", True),
        ("tests/test_asked.py", False),
        ("tests/test_named.py", False),
        ("Makefile", False),
    ],
)
def test_what_decides_is_nobodys_to_solve(path: str, solved: bool) -> None:
    judged = judgement(Path(), Path())
    assert is_solved(path, judged, {"Makefile", "tests/test_named.py"}) == solved


class Tree(HostWorkspace):
    """A place with a tree, and nothing that runs there."""

    def __init__(self, tree: Path) -> None:
        super().__init__()
        self.tree = tree


CHANGED = "changed = 1\n"


@pytest.fixture
def changed(tmp_path: Path) -> tuple[Judgement, Tree]:
    """Return a tree in which a patch has changed all that there is."""
    base, tree = tmp_path / "base", tmp_path / "tree"
    for path in (*sorted(GOLD), "testing/other.py", "tests/other.js"):
        for root, text in ((base, "base = 1\n"), (tree, CHANGED)):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
    (tree / "testing/link.py").unlink()
    (tree / "testing/link.py").symlink_to("helper.py")
    return judgement(base, tmp_path), Tree(tree)


def left(tree: Tree) -> set[str]:
    """Return the files that are as the patch has them."""
    return {
        path.relative_to(tree.tree).as_posix()
        for path in tree.tree.rglob("*")
        if path.is_file() and path.read_text(encoding="utf-8") == CHANGED
    }


def test_files_that_the_reference_touches_stay(
    changed: tuple[Judgement, Tree],
) -> None:
    judged, tree = changed
    files = frozenset({"tests/test_named.py", "Makefile"})
    findings = protect_python(judged, tree, more_files=files)
    put_back(judged, tree, ANY, files)
    assert left(tree) == {
        "lib/code.py",
        "testing/helper.py",
        "tests/conftest.py",
        "tests/helper.js",
    }
    assert findings == ("the patch makes testing/link.py a link to 'helper.py'",)


def test_a_hook_is_tampering_in_a_file_that_the_reference_touches(
    changed: tuple[Judgement, Tree],
) -> None:
    judged, tree = changed
    conftest = tree.tree / "tests/conftest.py"
    conftest.write_text("def pytest_runtest_makereport(): pass\n", encoding="utf-8")
    findings = protect_python(judged, tree)
    assert any("tests/conftest.py to steer pytest" in one for one in findings)
