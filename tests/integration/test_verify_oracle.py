"""``codegenie verify --oracle``: what reproduces here counts, the rest is marked."""

from __future__ import annotations

import datetime as dt
import fcntl
import subprocess
import sys
from collections.abc import Callable
from collections.abc import Mapping
from pathlib import Path

import pytest
from integration.sessions import ALWAYS_RIGHT
from integration.sessions import NEVER_JUDGED
from integration.sessions import RIGHT_IF_MENDED
from integration.sessions import Project
from integration.sessions import wait_until

from pytest_codegenie.cli import main
from pytest_codegenie.corpus.case_file import read_case_table
from pytest_codegenie.corpus.reproduction import read_reproductions


#: Of ``case.toml``.
OLD = dt.date(2020, 2, 2)
TASK = "input/task.toml"
#: Prints what a log parser reads: one test passes, and one is not there.
LOGGED = """\
framework = "log"
parser = "pytest"
command = "echo PASSED t.py::a"
fail_to_pass = []
pass_to_pass = ["t.py::a", "t.py::gone"]
"""


class Imported:
    """Makes cases as an import makes them."""

    def __init__(self, project: Project) -> None:
        self.project = project

    def __call__(
        self, case_id: str, files: Mapping[str, str | None], **options: str
    ) -> Path:
        directory = self.project.case(case_id, files=files, **options)
        path = directory / "case.toml"
        lines = [
            'source = "imported"'
            if line.startswith("source")
            else f"last_validated_at = {OLD}"
            if line.startswith("last_validated_at")
            else line
            for line in path.read_text("utf-8").splitlines()
        ]
        path.write_text("\n".join(lines) + "\ntags = ['kept']\n", encoding="utf-8")
        return directory

    def task(self, line: str) -> dict[str, str]:
        """Return the file of a task with a line of ``[repository]`` exchanged."""
        scratch = self.project.bench.cases_dir / "scratch"
        if not scratch.exists():
            self.project.case("scratch")
        text = (scratch / TASK).read_text("utf-8")
        key = line.partition(" ")[0]
        lines = [line if one.startswith(key) else one for one in text.splitlines()]
        return {TASK: "\n".join(lines) + "\n"}


@pytest.fixture
def imported(project: Project) -> Imported:
    return Imported(project)


@pytest.fixture
def verify(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """Run the command on the host; return (exit code, all that it printed)."""

    def run(*arguments: str) -> tuple[int, str]:
        words = ["verify", "--oracle", "--workspace=host", "--jobs=2", *arguments]
        code = main(words)
        printed = capsys.readouterr()
        return code, printed.out + printed.err

    return run


Verify = Callable[..., tuple[int, str]]
MARKED = {
    "never-judged": ("not-judged", "unknown evaluator 'oracle-bones'"),
    "not-fetched": ("no-base", "the base cannot be fetched: "),
    "no-base": ("no-base", "repository.source: 'nowhere' is no directory in input/"),
    "no-packages": ("no-environment", "the environment cannot be built: `false`"),
    "no-gold": ("gold-does-not-apply", "the patch does not apply: git apply: "),
    "hangs": ("hangs", "with the gold patch, "),
    "missing": ("missing-after", "1 of 2 tests is not there after the fix"),
    "wrong-gold": ("fails-after", "not passed after the fix: "),
    "always-right": ("passes-before", "1 of 1 fail-to-pass tests pass before the fix"),
    "untouched": ("fails-untouched", "doing nothing does not pass it: "),
}


def _make_all(imported: Imported) -> None:
    task = imported.task
    imported("good", RIGHT_IF_MENDED)
    imported("no-harm", ALWAYS_RIGHT, disposition="negative")
    imported("never-judged", NEVER_JUDGED)
    mirror = imported.project.path / "mirror.git"
    (mirror / "objects").mkdir(parents=True)
    (mirror / "HEAD").write_text("ref: refs/heads/main\n", encoding="ascii")
    commit = f'source = "{mirror}"\nbase_commit = "{"0" * 40}"'
    imported("not-fetched", RIGHT_IF_MENDED | task(commit))
    imported("no-base", RIGHT_IF_MENDED | task('source = "nowhere"'))
    imported("no-packages", RIGHT_IF_MENDED | task('install = ["false"]'))
    imported("no-gold", RIGHT_IF_MENDED | {"expected/gold.patch": "nonsense\n"})
    slow = 'framework = "command"\ncommand = "sleep 100"\ntimeout_seconds = 0.1\n'
    imported("hangs", {"expected/tests.toml": slow})
    imported("missing", {"expected/tests.toml": LOGGED})
    wrong = RIGHT_IF_MENDED["expected/tests.toml"].replace("32", "33")
    imported("wrong-gold", {"expected/tests.toml": wrong})
    imported("always-right", ALWAYS_RIGHT)
    never = {"expected/tests.toml": ALWAYS_RIGHT["expected/tests.toml"]}
    never = {name: text.replace("true", "false") for name, text in never.items()}
    imported("untouched", never, disposition="negative")


def test_each_reason_is_told_and_marked(
    imported: Imported, verify: Verify, project: Project
) -> None:
    _make_all(imported)
    signed = (project.bench.cases_dir / "digests.yaml").read_bytes()
    code, printed = verify()
    assert code == 1, printed
    found = read_reproductions(project.bench.directory)
    for case_id, (reason, words) in MARKED.items():
        assert f"bench/demo-task/cases/{case_id}: {reason}: " in printed
        one = found[case_id]
        assert (one.reproduces, one.reason) == (False, reason)
        assert words in one.detail, case_id
        table = read_case_table(project.bench.cases_dir / case_id)
        assert table["disposition"] == "ambiguous"
        assert table["tags"] == ["kept", "does-not-reproduce"]
        assert table["last_validated_at"] == OLD
    for case_id, disposition in (("good", "positive"), ("no-harm", "negative")):
        assert f"bench/demo-task/cases/{case_id}: reproduces\n" in printed
        table = read_case_table(project.bench.cases_dir / case_id)
        assert (table["disposition"], table["tags"]) == (disposition, ["kept"])
        assert table["last_validated_at"] == dt.datetime.now(dt.UTC).date()
    assert found["missing"].tests == ("t.py::gone",)
    assert found["untouched"].disposition == "negative"
    assert (
        "bench/demo-task: 2 of 12 cases reproduce; ambiguous are now 10: "
        "1 fails-after, 1 fails-untouched, 1 gold-does-not-apply, 1 hangs, "
        "1 missing-after, 2 no-base, 1 no-environment, 1 not-judged, "
        "1 passes-before; 1 not looked at: not imported, or ambiguous before "
        "(reproduction.toml)\n"
    ) in printed
    # Not under the digest: all still verify.
    assert (project.bench.cases_dir / "digests.yaml").read_bytes() == signed
    assert main(["verify", "--static"]) == 0


def test_a_wrong_label_is_not_held_against_an_agent(
    imported: Imported, verify: Verify, project: Project
) -> None:
    imported("good", RIGHT_IF_MENDED)
    imported("always-right", ALWAYS_RIGHT)
    assert verify()[0] == 0
    result = project.run("--codegenie-agent=oracle", "--codegenie-workspace=host")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*1 ambiguous*"])
    (report,) = project.run_directories[0].glob("report-*.json")
    assert '"passed_count": 1' in report.read_text("utf-8")


def test_a_case_that_reproduces_again_counts_again(
    imported: Imported, verify: Verify, project: Project
) -> None:
    switch = project.path / "switch"
    tests = f'framework = "command"\ncommand = "test -e {switch} && grep -q 32 *.py"\n'
    directory = imported("switched", {"expected/tests.toml": tests})
    assert verify()[0] == 0
    assert read_case_table(directory)["disposition"] == "ambiguous"
    switch.touch()
    code, printed = verify()
    assert code == 0
    assert "switched: reproduces\n" in printed
    table = read_case_table(directory)
    assert (table["disposition"], table["tags"]) == ("positive", ["kept"])
    (found,) = read_reproductions(project.bench.directory).values()
    assert found.reproduces


def test_what_a_killed_run_has_told_is_not_run_again(
    imported: Imported, verify: Verify, project: Project
) -> None:
    log = project.path / "log"
    held = project.path / "held"
    text = 'framework = "command"\ncommand = "echo {} >> {}; {}grep -q 32 *.py"\n'
    wait = f"while test -e {held}; do sleep 0.05; done; "
    imported("a", {"expected/tests.toml": text.format("a", log, "")})
    imported("b", {"expected/tests.toml": text.format("b", log, wait)})
    held.touch()
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "pytest_codegenie.cli", "verify", "--oracle"),
            *("--workspace=host", "--jobs=1"),
        ],
        cwd=project.path,
        stdout=subprocess.DEVNULL,
    )
    wait_until(lambda: log.exists() and log.read_text("utf-8").split()[-1:] == ["b"])
    process.kill()
    process.wait()
    held.unlink()
    log.unlink()
    code, printed = verify()
    assert code == 0
    assert "1 cases were told before an earlier run was cut off" in printed
    assert set(log.read_text("utf-8").split()) == {"b"}
    assert "2 of 2 cases reproduce" in printed
    assert set(read_reproductions(project.bench.directory)) == {"a", "b"}
    # It is told to its end, so the next one begins anew.
    log.unlink()
    assert verify()[0] == 0
    assert set(log.read_text("utf-8").split()) == {"a", "b"}


def test_a_case_that_does_not_verify_is_a_complaint(
    imported: Imported, verify: Verify
) -> None:
    imported("good", RIGHT_IF_MENDED)
    bad = imported("bad", RIGHT_IF_MENDED)
    (bad / "input" / "problem.md").write_text("changed", encoding="utf-8")
    code, printed = verify()
    assert code == 6
    assert "cases/bad: digest mismatch: " in printed
    assert "good: reproduces\n" in printed
    assert read_case_table(bad)["disposition"] == "positive"


def test_a_finding_that_cannot_be_read_is_said(
    imported: Imported, verify: Verify, project: Project
) -> None:
    imported("good", RIGHT_IF_MENDED)
    path = project.bench.directory / "reproduction.toml"
    for text in ("[cases", "[cases.good]\nreproduces = 'maybe'\n", "cases = 1\n"):
        path.write_text(text, encoding="utf-8")
        code, printed = verify()
        assert code == 6
        assert "reproduction.toml: cannot be read: " in printed
        assert "remove it: codegenie verify --oracle writes it again" in printed


def test_one_at_a_time_works_on_a_task_class(
    imported: Imported, verify: Verify, project: Project
) -> None:
    imported("good", RIGHT_IF_MENDED)
    assert verify()[0] == 0
    (lock,) = (project.path / ".codegenie" / "verify").glob("demo-task-*.lock")
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        code, printed = verify()
    assert code == 4
    assert "another command finds out about this task class just now" in printed


def test_static_and_oracle_are_not_given_together(project: Project) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["verify", "--oracle", "--static"])
    assert ended.value.code == 4
