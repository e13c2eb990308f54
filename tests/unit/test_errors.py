"""Errors: contract arguments, exit codes, messages that can be acted on."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import pytest

from pytest_codegenie import errors
from pytest_codegenie.errors import AgentError
from pytest_codegenie.errors import AgentUnavailable
from pytest_codegenie.errors import BenchCaseDigestMismatch
from pytest_codegenie.errors import BenchCaseIDCollision
from pytest_codegenie.errors import BenchCaseLoadError
from pytest_codegenie.errors import ChainTamperDetected
from pytest_codegenie.errors import CodegenieError
from pytest_codegenie.errors import ConfigError
from pytest_codegenie.errors import DatasetError
from pytest_codegenie.errors import EvaluatorError
from pytest_codegenie.errors import GradeRefused
from pytest_codegenie.errors import IncompleteReportForPromotion
from pytest_codegenie.errors import ProjectError
from pytest_codegenie.errors import PromotionMustBeHumanAuthorized
from pytest_codegenie.errors import RubricError
from pytest_codegenie.errors import RunDiffers
from pytest_codegenie.errors import RunNotFound
from pytest_codegenie.errors import RunStoreError
from pytest_codegenie.errors import TaskClassAlreadyRegistered
from pytest_codegenie.errors import TaskClassIncomplete
from pytest_codegenie.errors import TaskClassNotFound
from pytest_codegenie.errors import TierConfigInvalid
from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.errors import did_you_mean
from pytest_codegenie.errors import printable
from pytest_codegenie.errors import relative


PLACE = Path("bench/demo/cases/first")
EXPECTED = f"blake3:{'1' * 64}"
COMPUTED = f"blake3:{'2' * 64}"

MISMATCH = BenchCaseDigestMismatch(
    "first",
    EXPECTED,
    COMPUTED,
    directory=PLACE,
    differs=("input/a (changed)", "input/b\n (new)"),
    suspects=("input/.DS_Store",),
)

#: (error, its args, exit code, message)
ALL: list[tuple[CodegenieError, tuple[object, ...], int, str]] = [
    (
        BenchCaseLoadError(PLACE, "added_at", "required key is missing"),
        (PLACE, "added_at", "required key is missing"),
        6,
        "bench/demo/cases/first: added_at: required key is missing",
    ),
    (
        MISMATCH,
        ("first", EXPECTED, COMPUTED),
        6,
        "bench/demo/cases/first: digest mismatch: not the files that were signed in "
        "cases/digests.yaml\n"
        f"  expected {EXPECTED}\n"
        f"  computed {COMPUTED}\n"
        "  differs  input/a (changed)\n"
        "  differs  input/b\\n (new)\n"
        "  likely cause: input/.DS_Store (a stray file; delete it)\n"
        "restore the files, or sign the case again on purpose: "
        "codegenie sign bench/demo",
    ),
    (
        BenchCaseDigestMismatch("first", EXPECTED, COMPUTED, source="case.toml"),
        ("first", EXPECTED, COMPUTED),
        6,
        "first: digest mismatch: not the files that were signed in case.toml\n"
        f"  expected {EXPECTED}\n"
        f"  computed {COMPUTED}\n"
        "restore the files, or give case.toml the computed case_digest (or none: the "
        "key is optional)",
    ),
    (
        BenchCaseIDCollision("a", ["bench/y/cases/a", "bench/x/cases/A"]),
        ("a", (Path("bench/x/cases/A"), Path("bench/y/cases/a"))),
        6,
        "case id 'a' is used more than once: bench/x/cases/A, bench/y/cases/a; ids "
        "must differ by more than case, over all task classes of a run: rename all but "
        "one directory, with its case_id, and sign again",
    ),
    (
        TaskClassNotFound("bug-repare", ("bug-repair", "docs"), place="bench"),
        ("bug-repare", ("bug-repair", "docs")),
        9,
        "task class 'bug-repare' not found in bench; available: 'bug-repair', 'docs' "
        "(did you mean 'bug-repair'?); a task class is a directory with "
        "registration.py and cases/, registered under the directory's name",
    ),
    (
        TaskClassNotFound("x"),
        ("x", ()),
        9,
        "task class 'x' not found; available: none; a task class is a directory with "
        "registration.py and cases/, registered under the directory's name",
    ),
    (
        TaskClassAlreadyRegistered("demo", "a.Rubric", "b.Rubric"),
        ("demo", "a.Rubric", "b.Rubric"),
        9,
        "task class 'demo' is already registered by a.Rubric; b.Rubric cannot be "
        "registered too: keep exactly one @register_task_class in a registration.py, "
        "under its directory's name",
    ),
    (
        TaskClassIncomplete("demo", "bench/demo/rubric.py"),
        ("demo", "bench/demo/rubric.py"),
        9,
        "task class 'demo' is incomplete: bench/demo/rubric.py: missing; "
        "'codegenie new task-class' makes one that is whole, to compare with",
    ),
    (
        ChainTamperDetected(
            "7 (r1, demo, opus)", "a", "b", what="prev_hash", path="out/chain.jsonl"
        ),
        ("7 (r1, demo, opus)", "a", "b"),
        8,
        "out/chain.jsonl: audit chain: record 7 (r1, demo, opus) does not verify: "
        "prev_hash differs\n  recorded a\n  computed b\n"
        "restore what was changed from a backup; or move the directory audit away, and "
        "a new chain begins: trust no record from this one on",
    ),
    (
        IncompleteReportForPromotion("r1", "demo", "opus", reason="3 of 9 items"),
        ("r1", "demo", "opus"),
        1,
        "run 'r1' has no report of 'demo' with agent 'opus': it was cut off, or still "
        "goes on (3 of 9 items); finish it (pytest --codegenie-resume r1), or run "
        "anew: only the latest runs count",
    ),
    (
        PromotionMustBeHumanAuthorized("demo", "opus", "bronze", "silver"),
        ("demo", "opus", "bronze", "silver"),
        1,
        "a tier is given by a person, never by this program: to promote 'opus' on "
        "'demo', somebody who answers for it edits trust-tiers.yaml, sets "
        "current.demo.opus from bronze to silver, and commits that with the "
        "recommendation",
    ),
    (
        PromotionMustBeHumanAuthorized(
            "demo", "opus", None, "bronze", path="ops/tiers.yaml", sufficient=False
        ),
        ("demo", "opus", None, "bronze"),
        1,
        "a tier is given by a person, never by this program; the evidence is not "
        "sufficient: to promote 'opus' on 'demo', somebody who answers for it edits "
        "ops/tiers.yaml, sets current.demo.opus to bronze, and commits that with the "
        "recommendation",
    ),
    (
        TierConfigInvalid("trust-tiers.yaml", "tiers", "required key is missing"),
        ("trust-tiers.yaml", "tiers", "required key is missing"),
        1,
        "trust-tiers.yaml: tiers: required key is missing",
    ),
    (
        ConfigError("run.yaml", "trials", "must be above 0"),
        ("run.yaml", "trials", "must be above 0"),
        4,
        "run.yaml: trials: must be above 0",
    ),
    (
        ConfigError("run.yaml", "", "missing"),
        ("run.yaml", "", "missing"),
        4,
        "run.yaml: missing",
    ),
    (
        RunStoreError("out/results.jsonl", "line 3 is no result"),
        ("out/results.jsonl", "line 3 is no result"),
        1,
        "out/results.jsonl: line 3 is no result",
    ),
    (
        RunNotFound("last", "there is no run 'last'"),
        ("last", "there is no run 'last'"),
        4,
        "there is no run 'last'",
    ),
    (
        DatasetError("rows.jsonl, line 3 (a__b-1)", "patch", "is missing\n"),
        ("rows.jsonl, line 3 (a__b-1)", "patch", "is missing\n"),
        6,
        "rows.jsonl, line 3 (a__b-1): patch: is missing\\n",
    ),
    (
        ProjectError("slug/prompt.md", "P-003 stands twice", 7),
        ("slug/prompt.md", "P-003 stands twice", 7),
        4,
        "slug/prompt.md, line 7: P-003 stands twice",
    ),
    (
        GradeRefused("r1", ["demo/a", "demo/b\n"]),
        ("r1", ("demo/a", "demo/b\n")),
        4,
        "run 'r1' is not graded again: 2 cases changed since, and what was asked may "
        "have changed with the answer key\n  demo/a\n  demo/b\\n\n"
        "restore them; or leave them out (-k, --codegenie-case); or, where only what "
        "judges changed, --codegenie-grade-changed",
    ),
    (
        RunDiffers("r1", ["trials: recorded 1, now 2", "a\tb"]),
        ("r1", ("trials: recorded 1, now 2", "a\tb")),
        4,
        "run 'r1' cannot be resumed: what would run now differs from what it is made "
        "of\n  trials: recorded 1, now 2\n  a\\tb\n"
        "make it as it was, or begin a run of its own",
    ),
    (
        RunDiffers("r1", (one for one in ["x"]), remedy="do this"),
        ("r1", ("x",)),
        4,
        "run 'r1' cannot be resumed: what would run now differs from what it is made "
        "of\n  x\ndo this",
    ),
    (AgentError("broke"), ("broke",), 1, "broke"),
    (AgentUnavailable("not here"), ("not here",), 1, "not here"),
    (WorkspaceUnavailable("no git"), ("no git",), 1, "no git"),
    (EvaluatorError("no pytest"), ("no pytest",), 1, "no pytest"),
    (RubricError("rubric.timeout", "60 s"), ("60 s",), 1, "60 s"),
]
every_error = pytest.mark.parametrize(
    ("error", "args", "exit_code", "message"),
    ALL,
    ids=[f"{type(row[0]).__name__}-{number}" for number, row in enumerate(ALL)],
)


@every_error
def test_an_error_has_its_contract_arguments_exit_code_and_message(
    error: CodegenieError, args: tuple[object, ...], exit_code: int, message: str
) -> None:
    assert error.args == args
    assert error.exit_code == exit_code
    assert str(error) == message


@every_error
def test_an_error_survives_pickling_and_copying_whole(
    error: CodegenieError, args: tuple[object, ...], exit_code: int, message: str
) -> None:
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(twin) is type(error)
        assert (twin.args, str(twin)) == (args, message)
        assert vars(twin) == vars(error)


def test_every_error_of_the_module_is_in_this_test() -> None:
    defined = {
        value
        for value in vars(errors).values()
        if isinstance(value, type) and issubclass(value, CodegenieError)
    }
    abstract = {CodegenieError, errors.CaseError}
    assert defined - abstract == {type(row[0]) for row in ALL}


def test_case_errors_name_their_failure_mode() -> None:
    codes = {
        type(error).__name__: error.code
        for error, *_ in ALL
        if isinstance(error, errors.CaseError)
    }
    assert codes == {
        "AgentError": "agent.error",
        "AgentUnavailable": "agent.unavailable",
        "WorkspaceUnavailable": "workspace.error",
        "EvaluatorError": "evaluator.error",
        "RubricError": "rubric.timeout",
    }


def test_paths_in_messages_are_relative_to_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert relative(tmp_path / "bench/demo") == "bench/demo"
    assert relative("/elsewhere/demo") == "/elsewhere/demo"
    assert relative(tmp_path) == "."


def test_a_removed_working_directory_does_not_break_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert str(BenchCaseLoadError("/bench/a", "case_id", "x")) == "/bench/a: case_id: x"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 漢", "plain é 漢"),
        ("a\nb", r"a\nb"),
        ("\x1b[31mred", r"\x1b[31mred"),
        ("\udcff", r"\udcff"),
        ("a\u202eb", r"a\u202eb"),
    ],
)
def test_what_would_break_a_line_or_a_terminal_is_escaped(
    text: str, shown: str
) -> None:
    assert printable(text) == shown
    assert shown in str(BenchCaseLoadError(Path("bench", text), text, "x"))


def test_a_near_name_is_suggested_and_a_far_one_is_not() -> None:
    assert did_you_mean("orcale", ["nop", "oracle"]) == " (did you mean 'oracle'?)"
    assert did_you_mean("zzz", ["nop", "oracle"]) == ""
