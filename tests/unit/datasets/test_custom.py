"""Instances of one's own in YAML: runnable, and each fault with its line."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from support import Bench
from support_datasets import drafts
from support_datasets import place_drafts

from pytest_codegenie.datasets import CaseDraft
from pytest_codegenie.datasets import DatasetOptions
from pytest_codegenie.datasets.custom import CustomDataset
from pytest_codegenie.errors import DatasetError


TEST_PATCH = """\
diff --git a/tests/test_it.py b/tests/test_it.py
new file mode 100644
--- /dev/null
+++ b/tests/test_it.py
@@ -0,0 +1,4 @@
+from it import half
+
+def test_half():
+    assert half(3) == 1.5
"""
GOLD_PATCH = """\
diff --git a/it.py b/it.py
--- a/it.py
+++ b/it.py
@@ -1,2 +1,2 @@
 def half(n):
-    return n // 2
+    return n / 2
"""


def instance(**keys: Any) -> dict[str, Any]:
    """Return an instance that works; a key that is None is left out."""
    values: dict[str, Any] = {
        "instance_id": "half-1",
        "repo": "demo/it",
        "problem_statement": "half(3) is 1.",
        "test_patch": TEST_PATCH,
        "gold_patch": GOLD_PATCH,
        "fail_to_pass": ["tests/test_it.py::test_half"],
        "metadata": {"directory": "it", "install": "none"},
    }
    return {key: value for key, value in (values | keys).items() if value is not None}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A directory with the code that instances are about."""
    code = tmp_path / "data" / "it"
    code.mkdir(parents=True)
    (code / "it.py").write_text("def half(n):\n    return n // 2\n", "utf-8")
    (code / "run.sh").write_text("#!/bin/sh\n", "utf-8")
    (code / "run.sh").chmod(0o755)
    return code.parent


def write(place: Path, *instances: dict[str, Any], **top: Any) -> Path:
    path = place / "cases.yaml"
    table = {"dataset_name": "mine", "instances": list(instances)} | top
    path.write_text(yaml.safe_dump(table, sort_keys=False), "utf-8")
    return path


def only(place: Path, **keys: Any) -> CaseDraft:
    (draft,) = drafts(CustomDataset(), write(place, instance(**keys)))
    return draft


def error(place: Path, **keys: Any) -> str:
    with pytest.raises(DatasetError) as caught:
        only(place, **keys)
    return str(caught.value)


def file_error(path: Path) -> str:
    with pytest.raises(DatasetError) as caught:
        list(CustomDataset().instances(str(path), DatasetOptions()))
    return str(caught.value)


def git(*arguments: str, cwd: Path) -> str:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    done = subprocess.run(
        ["git", *who, *arguments], cwd=cwd, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def make_repository(code: Path) -> str:
    """Commit what a directory holds; return the commit."""
    git("init", "--quiet", cwd=code)
    git("add", "--all", cwd=code)
    git("commit", "--quiet", "--message", "it", cwd=code)
    return git("rev-parse", "HEAD", cwd=code)


# -- what works ----------------------------------------------------------------------


def test_an_instance_with_a_directory_runs(bench: Bench, place: Path) -> None:
    made = drafts(CustomDataset(), write(place, instance()))
    place_drafts(bench, made)
    assert bench.run("half-1", agent="oracle").outcome == "passed"
    assert bench.run("half-1", agent="nop").outcome == "failed"
    code = bench.cases_dir / "half-1" / "input" / "repo"
    assert (code / "run.sh").stat().st_mode & 0o100


def test_an_instance_with_a_bundle_runs(bench: Bench, place: Path) -> None:
    commit = make_repository(place / "it")
    git("bundle", "create", "--quiet", "../it.bundle", "--all", cwd=place / "it")
    metadata = {"bundle": "it.bundle", "install": "none"}
    row = instance(base_commit=commit, metadata=metadata)
    place_drafts(bench, drafts(CustomDataset(), write(place, row)))
    assert bench.run("half-1", agent="oracle").outcome == "passed"
    assert bench.run("half-1", agent="nop").outcome == "failed"


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["HEAD"], "has no branch; make it with: git bundle create FILE --all"),
        (["HEAD~1..main"], "is not whole; make it with: git bundle create FILE --all"),
    ],
)
def test_a_bundle_that_nothing_can_be_fetched_from_is_refused(
    place: Path, arguments: list[str], fault: str
) -> None:
    make_repository(place / "it")
    git("branch", "--move", "main", cwd=place / "it")
    git("commit", "--quiet", "--allow-empty", "--message", "2", cwd=place / "it")
    git("bundle", "create", "--quiet", "../it.bundle", *arguments, cwd=place / "it")
    metadata = {"bundle": "it.bundle"}
    assert f"metadata.bundle: 'it.bundle' {fault}" in error(
        place, base_commit="a" * 40, metadata=metadata
    )


def test_an_instance_with_a_repository_beside_it_runs(
    bench: Bench, place: Path
) -> None:
    commit = make_repository(place / "it")
    row = instance(repo="it", base_commit=commit, metadata={"install": "none"})
    place_drafts(bench, drafts(CustomDataset(), write(place, row)))
    assert bench.run("half-1", agent="oracle").outcome == "passed"


@pytest.mark.parametrize(
    ("repo", "source", "name"),
    [
        ("demo/it", "https://github.com/demo/it.git", "demo/it"),
        ("https://x.example/a/b.git", "https://x.example/a/b.git", "a/b"),
        ("git@x.example:a/b.git", "git@x.example:a/b.git", "a/b"),
    ],
)
def test_a_repository_elsewhere_is_fetched_by_its_commit(
    place: Path, repo: str, source: str, name: str
) -> None:
    draft = only(place, repo=repo, base_commit="a" * 40, metadata=None)
    repository = draft.task.repository
    assert (repository.name, repository.source) == (name, source)
    assert repository.base_commit == draft.commit_sha == "a" * 40


def test_every_key_has_its_place(place: Path) -> None:
    draft = only(
        place,
        hints_text="look",
        pass_to_pass=["p"],
        gold_patch=GOLD_PATCH.removesuffix("\n"),
        metadata={
            "source": "sdist:it==1.0",
            "sha256": "0" * 64,
            "python": "3.11",
            "install": ["pip install -e ."],
            "image": "it:1",
            "framework": "log",
            "command": "pytest -rA",
            "parser": "parse_log_pytest",
            "rule": "swebench",
            "timeout_seconds": 5,
            "difficulty": "hard",
            "disposition": "ambiguous",
            "tags": ["a"],
            "ticket": 12,
        },
    )
    task, tests = draft.task, draft.tests
    assert (task.repository.source, task.repository.sha256) == (
        "sdist:it==1.0",
        "0" * 64,
    )
    environment = task.environment
    assert (environment.python, environment.install, environment.image) == (
        "3.11",
        ["pip install -e ."],
        "it:1",
    )
    assert (tests.framework, tests.command, tests.parser, tests.rule) == (
        "log",
        "pytest -rA",
        "parse_log_pytest",
        "swebench",
    )
    assert (tests.fail_to_pass, tests.pass_to_pass) == (
        ["tests/test_it.py::test_half"],
        ["p"],
    )
    assert (draft.difficulty, draft.disposition, draft.tags) == (
        "hard",
        "ambiguous",
        ("a",),
    )
    assert (draft.hints, draft.timeout_seconds) == ("look\n", 5)
    # A line end that YAML took off is what ``git apply`` asks for.
    assert draft.gold_patch == GOLD_PATCH
    assert draft.origin == {"dataset_name": "mine", "ticket": "12"}


def test_an_empty_key_is_none(place: Path) -> None:
    path = write(place, instance())
    path.write_text(
        path.read_text("utf-8") + "    tags:\n  hints_text:\n  pass_to_pass:\n", "utf-8"
    )
    (draft,) = drafts(CustomDataset(), path)
    assert (draft.hints, draft.tags, draft.tests.pass_to_pass) == ("", (), [])


# -- what does not -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"problem_statement": None}, "problem_statement: required key is missing"),
        (
            {"gold_pach": "x"},
            "gold_pach: unknown key (did you mean 'gold_patch'?); known: instance_id, "
            "repo, base_commit, problem_statement, hints_text, test_patch, gold_patch, "
            "fail_to_pass, pass_to_pass, metadata",
        ),
        (
            {"metadata": {"directory": "it", "python": 3.11}},
            "metadata.python: Input should be a valid string, got 3.11; put it in "
            "quotes",
        ),
        (
            {"metadata": {"directory": "it", "instal": "none"}},
            "metadata.instal: unknown key (did you mean 'install'?)",
        ),
        (
            {"metadata": {"directory": "it", "install": 3}},
            "metadata.install: must be auto, none, or a list of shell lines",
        ),
        (
            {"fail_to_pass": "a"},
            "fail_to_pass: Input should be a valid list, got 'a'",
        ),
        ({"base_commit": "main"}, "base_commit: must be a commit's id, got 'main'"),
        ({"gold_patch": None}, "gold_patch: missing; or say metadata.disposition: "),
        ({"fail_to_pass": []}, "fail_to_pass: missing: the tests that the solution"),
        ({"gold_patch": "it.py"}, "gold_patch: is no diff: no line starts with 'diff"),
        (
            {"metadata": None},
            "base_commit: missing; or name metadata.directory or metadata.source",
        ),
        (
            {"metadata": None, "base_commit": "abc1234"},
            "base_commit: must be whole where it is fetched: git rev-parse COMMIT",
        ),
        (
            {"metadata": {"source": "sdist:it==1.0"}},
            "metadata.sha256: missing: of the archive; or a base_commit",
        ),
        (
            {"metadata": {"directory": "it", "bundle": "x"}},
            "metadata: has bundle and directory; the code comes from one place",
        ),
        (
            {"metadata": {"directory": "../data/it"}},
            "metadata.directory: '../data/it' leads out of the dataset's directory",
        ),
        (
            {"metadata": {"directory": "/etc"}},
            "metadata.directory: '/etc' leads out of the dataset's directory",
        ),
        (
            {"metadata": {"directory": "gone"}},
            "metadata.directory: there is no directory 'gone' beside the YAML file",
        ),
        (
            {"metadata": {"bundle": "it/it.py"}, "base_commit": "a" * 40},
            "metadata.bundle: 'it/it.py' is no git bundle",
        ),
        (
            {"repo": "../../it", "metadata": None, "base_commit": "a" * 40},
            "repo: '../../it' is no directory here; name owner/project of GitHub",
        ),
    ],
)
def test_a_fault_is_said_with_its_key(
    place: Path, keys: dict[str, Any], message: str
) -> None:
    found = error(place, **keys)
    assert found.startswith("cases.yaml, line ")
    assert f" (half-1): {message}" in found


def test_a_fault_is_said_with_the_line_of_its_key(place: Path) -> None:
    path = place / "cases.yaml"
    path.write_text(
        "dataset_name: mine\ninstances:\n"
        "- instance_id: one\n  repo: r\n  metadata:\n    directory: it\n"
        "    python: 3.10\n",
        "utf-8",
    )
    with pytest.raises(DatasetError) as caught:
        drafts(CustomDataset(), path)
    assert str(caught.value) == (
        "cases.yaml, line 3 (one): 4 faults: line 7, metadata.python: Input should be "
        "a valid string, got 3.1; put it in quotes; problem_statement: required key is "
        "missing; gold_patch: missing; or say metadata.disposition: negative; "
        "fail_to_pass: missing: the tests that the solution makes pass"
    )


def test_links_do_not_lead_out(place: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key").touch()
    (place / "linked").symlink_to(tmp_path / "secret")
    assert "metadata.directory: 'linked' is a link that leads out of there" in error(
        place, metadata={"directory": "linked"}
    )
    (place / "it" / "key").symlink_to(tmp_path / "secret" / "key")
    assert "metadata.directory: 'key' is a link; put a copy there" in error(place)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "cases.yaml: not usable YAML: "),
        ("- 1\n", "cases.yaml: must hold the keys dataset_name and instances"),
        (
            "dataset_nam: x\ninstances: []\n",
            "cases.yaml: line 1: unknown key 'dataset_nam' (did you mean "
            "'dataset_name'?); known: dataset_name, instances; dataset_name: must be "
            "text, such as my-regressions; instances: must be a list of at least one "
            "instance",
        ),
        ("dataset_name: x\ndataset_name: y\n", "cases.yaml: not usable YAML: key "),
    ],
)
def test_a_file_of_another_layout_says_so(place: Path, text: str, message: str) -> None:
    path = place / "cases.yaml"
    path.write_text(text, "utf-8")
    assert file_error(path).startswith(message)


def test_a_missing_file_and_a_directory_say_so(place: Path) -> None:
    write(place, instance())
    assert "missing (did you mean 'cases.yaml'?)" in file_error(place / "case.yaml")
    assert "is a directory; name the YAML file in it" in file_error(place)


def test_something_else_than_an_instance_is_named_by_its_number(place: Path) -> None:
    path = write(place, instance())
    path.write_text(path.read_text("utf-8") + "- just text\n", "utf-8")
    found = list(CustomDataset().instances(str(path), DatasetOptions()))
    assert [one.instance_id for one in found] == ["half-1", "number 2"]
    with pytest.raises(DatasetError, match="an instance is a mapping of keys"):
        CustomDataset().draft(found[1], DatasetOptions())
