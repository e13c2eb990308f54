"""From a bench directory to verified cases."""

from __future__ import annotations

import datetime as dt
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from structlog.testing import capture_logs
from support import Bench

from pytest_codegenie.corpus import case_directories
from pytest_codegenie.corpus import find_task_classes
from pytest_codegenie.corpus import hash_case
from pytest_codegenie.corpus import list_cases
from pytest_codegenie.corpus import load_case
from pytest_codegenie.corpus import load_cases
from pytest_codegenie.corpus import load_task_class
from pytest_codegenie.corpus import new_task_class
from pytest_codegenie.corpus import read_task_class
from pytest_codegenie.errors import BenchCaseDigestMismatch
from pytest_codegenie.errors import BenchCaseIDCollision
from pytest_codegenie.errors import BenchCaseLoadError
from pytest_codegenie.errors import TaskClassAlreadyRegistered
from pytest_codegenie.errors import TaskClassIncomplete
from pytest_codegenie.errors import TaskClassNotFound
from pytest_codegenie.registry import TaskClassRegistry
from pytest_codegenie.registry import default_registry


Change = Callable[[Path], object]


@pytest.fixture(autouse=True)
def in_the_benchs_parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_cases_are_verified_sorted_and_absolute(bench: Bench) -> None:
    for case_id in ("b", "a", "c"):
        bench.case(case_id)
    for root in (bench.root, Path("bench")):
        task_class = load_task_class("demo-task", root, registry=TaskClassRegistry())
        cases = load_cases(task_class)
        assert [case.case_id for case in cases] == ["a", "b", "c"]
        assert cases[0].directory == bench.cases_dir / "a"
        assert cases[0].case_digest == hash_case(bench.cases_dir / "a").digest


def test_a_task_class_is_whole_and_registered_once(bench: Bench) -> None:
    registry = TaskClassRegistry()
    task_class = load_task_class("demo-task", bench.root, registry=registry)
    assert task_class.bench_path == bench.directory
    assert task_class.breakdown_keys == {"fixed", "kept"}
    assert set(task_class.failure_mode_taxonomy or ()) == {
        "not_resolved",
        "unneeded_change",
    }
    assert task_class.rubric_class.__name__ == "DemoTaskRubric"
    assert load_task_class("demo-task", bench.root, registry=registry) is task_class
    assert registry.names() == ("demo-task",)
    assert "demo-task" not in default_registry


def test_one_name_in_two_benches_is_refused(bench: Bench, tmp_path: Path) -> None:
    registry = TaskClassRegistry()
    load_task_class("demo-task", bench.root, registry=registry)
    other = Bench(tmp_path / "other")
    with pytest.raises(TaskClassAlreadyRegistered):
        load_task_class("demo-task", other.root, registry=registry)


def test_a_class_that_somebody_else_registered_is_made_whole(bench: Bench) -> None:
    registry = TaskClassRegistry()
    whole = read_task_class(bench.directory)
    registry.register(
        type(whole)("demo-task", bench.directory, {}, whole.rubric_class, None, None)
    )
    found = load_task_class("demo-task", bench.root, registry=registry)
    assert found == whole


@pytest.mark.parametrize("name", ["demo-tusk", "", ".", "..", "demo-task/cases", "/"])
def test_a_task_class_that_there_is_not_is_named_with_those_there_are(
    bench: Bench, name: str
) -> None:
    with pytest.raises(TaskClassNotFound) as caught:
        load_task_class(name, bench.root, registry=TaskClassRegistry())
    assert caught.value.args == (name, ("demo-task",))
    assert f"task class {name!r} not found in bench; available: 'demo-task'" in str(
        caught.value
    )


def test_task_classes_are_found_below_a_root_but_not_in_hidden_directories(
    bench: Bench, tmp_path: Path
) -> None:
    second = new_task_class("second", tmp_path / "deep/er")
    new_task_class("hidden", tmp_path / ".hidden")
    new_task_class("no-task-class", bench.cases_dir)
    assert find_task_classes(tmp_path) == [bench.directory, second]
    assert find_task_classes(bench.directory) == [bench.directory]
    assert find_task_classes(tmp_path / "gone") == []


KEYS = "from enum import {0}\nclass BreakdownKey({0}):\n    A = {1!r}\n"


@pytest.mark.parametrize(
    ("name", "content", "place", "reason"),
    [
        ("breakdown_keys.py", None, "breakdown_keys.py", "missing"),
        ("breakdown_keys.py", "", "breakdown_keys.py", "defines no class BreakdownKey"),
        (
            "breakdown_keys.py",
            "class BreakdownKey:\n    A = 'a'\n",
            "breakdown_keys.py",
            "defines no class BreakdownKey(StrEnum)",
        ),
        (
            "breakdown_keys.py",
            KEYS.format("Enum", 1),
            "breakdown_keys.py",
            "a breakdown key must be a non-empty str, got <BreakdownKey.A: 1>",
        ),
        (
            "breakdown_keys.py",
            KEYS.format("StrEnum", "LLM_grade"),
            "breakdown_keys.py",
            "breakdown key 'LLM_grade' contains 'llm': a score is made of what was",
        ),
        *(
            (
                "breakdown_keys.py",
                KEYS.format("StrEnum", f"my_{word}_x"),
                "breakdown_keys.py",
                f"breakdown key 'my_{word}_x' contains {word!r}",
            )
            for word in ("confidence", "self_reported", "model_says")
        ),
        (
            "breakdown_keys.py",
            "1 / 0\n",
            "breakdown_keys.py",
            "importing it raised ZeroDivisionError: division by zero "
            "(breakdown_keys.py, line 1); mend the module",
        ),
        ("failure_modes.yaml", None, "failure_modes.yaml", "missing"),
        ("failure_modes.yaml", "a: [", "failure_modes.yaml", "not usable YAML: "),
        *(
            (
                "failure_modes.yaml",
                text,
                "failure_modes.yaml",
                "must map failure codes to",
            )
            for text in ("[]", "0", "''", "text", "false")
        ),
        (
            "failure_modes.yaml",
            "a: {severity: bad, description: x}",
            "failure_modes.yaml",
            "a: severity must be one of block, warn, info, got 'bad'",
        ),
        (
            "failure_modes.yaml",
            "a: {severity: block, description: ' '}",
            "failure_modes.yaml",
            "a: description must be a non-empty string",
        ),
        (
            "failure_modes.yaml",
            "a: {severity: block}",
            "failure_modes.yaml",
            "a: must have exactly 'severity' and 'description'",
        ),
        (
            "failure_modes.yaml",
            "yes: {severity: block, description: x}",
            "failure_modes.yaml",
            "True: a code must be a non-empty string",
        ),
        ("registration.py", None, "registration.py", "missing"),
        ("cases", None, "cases", "missing"),
    ],
)
def test_a_part_of_a_task_class_that_does_not_hold_is_named(
    bench: Bench, name: str, content: str | None, place: str, reason: str
) -> None:
    bench.write(bench.directory / name, content)
    with pytest.raises(TaskClassIncomplete) as caught:
        read_task_class(bench.directory)
    assert caught.value.args == ("demo-task", bench.directory / place)
    assert f"bench/demo-task/{place}: {reason}" in str(caught.value)


@pytest.mark.parametrize(
    ("argument", "reason"),
    [
        ("breakdown_keys='abc'", "breakdown keys must be a list of str, got 'abc'"),
        ("breakdown_keys=3", "breakdown keys must be a list of str, got 3"),
        ("breakdown_keys=['']", "a breakdown key must be a non-empty str, got ''"),
        ("breakdown_keys=['llm']", "breakdown key 'llm' contains 'llm'"),
        ("failure_mode_taxonomy=[]", "must map failure codes to"),
        ("failure_mode_taxonomy={'a': 'b'}", "a: must have exactly 'severity' and"),
    ],
)
def test_what_the_registration_gives_itself_is_checked_too(
    bench: Bench, argument: str, reason: str
) -> None:
    path = bench.directory / "registration.py"
    source = path.read_text(encoding="utf-8")
    path.write_text(
        source.replace("    bench_path", f"    {argument},\n    bench_path")
    )
    with pytest.raises(TaskClassIncomplete) as caught:
        read_task_class(bench.directory)
    assert f"registration.py: {reason}" in str(caught.value)


def test_keys_may_be_any_enum_of_strings_or_come_from_the_registration(
    bench: Bench, tmp_path: Path
) -> None:
    source = "from enum import Enum\nclass BreakdownKey(str, Enum):\n    A = 'fixed'\n"
    bench.write(bench.directory / "breakdown_keys.py", source)
    bench.write(bench.directory / "failure_modes.yaml", "# none\n")
    task_class = read_task_class(bench.directory)
    assert task_class.breakdown_keys == {"fixed"}
    assert task_class.failure_mode_taxonomy == {}

    other = Bench(tmp_path / "other")
    path = other.directory / "registration.py"
    given = "breakdown_keys=['x'], failure_mode_taxonomy={}, bench_path"
    other.write(path, path.read_text(encoding="utf-8").replace("bench_path", given))
    other.write(other.directory / "breakdown_keys.py", None)
    other.write(other.directory / "failure_modes.yaml", None)
    assert read_task_class(other.directory).breakdown_keys == {"x"}


def change_a_file(case: Path) -> None:
    (case / "input/problem.md").write_text("other", encoding="utf-8")


def add_a_cache(case: Path) -> None:
    (case / "input/repo/__pycache__").mkdir()
    (case / "input/repo/__pycache__/x.pyc").touch()


def remove_a_file(case: Path) -> None:
    (case / "expected/gold.patch").unlink()


def make_executable(case: Path) -> None:
    (case / "input/repo/thermometer.py").chmod(0o755)


@pytest.mark.parametrize(
    ("change", "differs", "suspects"),
    [
        (change_a_file, ("input/problem.md (changed)",), ()),
        (
            add_a_cache,
            ("input/repo/__pycache__/x.pyc (new)",),
            ("input/repo/__pycache__/x.pyc",),
        ),
        (remove_a_file, ("expected/gold.patch (missing)",), ()),
        (make_executable, ("input/repo/thermometer.py (changed)",), ()),
    ],
)
def test_a_case_that_is_not_what_was_signed_names_what_differs(
    bench: Bench, change: Change, differs: tuple[str, ...], suspects: tuple[str, ...]
) -> None:
    directory = bench.case()
    signed = hash_case(directory).digest
    change(directory)
    with pytest.raises(BenchCaseDigestMismatch) as caught:
        bench.load()
    assert caught.value.args == ("first", signed, hash_case(directory).digest)
    assert (caught.value.differs, caught.value.suspects) == (differs, suspects)
    assert str(caught.value).startswith(
        "bench/demo-task/cases/first: digest mismatch: "
    )
    assert str(caught.value).endswith("codegenie sign bench/demo-task")


def test_case_toml_is_not_under_the_digest_but_its_own_digest_counts(
    bench: Bench,
) -> None:
    directory = bench.case(keys={"timeout_seconds": "60"})
    path = directory / "case.toml"
    text = path.read_text(encoding="utf-8").replace("= 60", "= 61")
    bench.write(path, text)
    assert bench.load().timeout_seconds == 61
    digest = hash_case(directory).digest
    bench.write(path, f'{text}case_digest = "{digest}"\n')
    assert bench.load().case_digest == digest
    other = f"blake3:{'0' * 64}"
    bench.write(path, f'{text}case_digest = "{other}"\n')
    with pytest.raises(BenchCaseDigestMismatch) as caught:
        bench.load()
    assert caught.value.args == ("first", other, digest)
    assert "signed in case.toml" in str(caught.value)
    assert "give case.toml the computed case_digest" in str(caught.value)


def empty_it(case: Path) -> None:
    shutil.rmtree(case)
    case.mkdir()


def replace_by(make: Change) -> Change:
    def change(case: Path) -> None:
        (case / "case.toml").unlink()
        make(case / "case.toml")

    return change


def move_away(case: Path) -> None:
    target = case.parents[3] / "away"
    case.rename(target)
    case.symlink_to(target)


def plant_fifo(case: Path) -> None:
    os.mkfifo(case / "input/pipe")


def plant_link_out(case: Path) -> None:
    (case / "input/out").symlink_to("../../../rubric.py")


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize(
    ("change", "field", "reason"),
    [
        (
            empty_it,
            "case.toml",
            "missing; a directory in cases/ is a case: restore the",
        ),
        (replace_by(Path.mkdir), "case.toml", "is a directory, not a regular file"),
        (replace_by(os.mkfifo), "case.toml", "is a special file, not a regular file"),
        (
            replace_by(lambda path: path.write_bytes(b"\xff")),
            "case.toml",
            "not UTF-8 (line 1, byte 0xff)",
        ),
        (
            replace_by(lambda path: path.write_bytes(b"x" * (9 << 20))),
            "case.toml",
            "larger than 8 MiB",
        ),
        (move_away, "directory", "is a symbolic link; a case has files of its own"),
    ],
)
def test_a_case_that_cannot_be_read_says_why_signed_or_not(
    bench: Bench, change: Change, field: str, reason: str, signed: bool
) -> None:
    directory = bench.case()
    if not signed:
        bench.write(bench.cases_dir / "digests.yaml", "")
    change(directory)
    with pytest.raises(BenchCaseLoadError) as caught:
        bench.load()
    assert caught.value.case_directory == directory
    assert caught.value.field == field
    assert caught.value.reason.startswith(reason)


@pytest.mark.parametrize(
    ("change", "field", "reason"),
    [
        (plant_fifo, "input/pipe", "a FIFO cannot be part of a case"),
        (plant_link_out, "input/out", "the link leads out of the case"),
    ],
)
def test_what_cannot_be_part_of_a_case_stops_loading_and_signing(
    bench: Bench, change: Change, field: str, reason: str
) -> None:
    change(bench.case())
    for attempt in (bench.load, bench.sign):
        with pytest.raises(BenchCaseLoadError) as caught:
            attempt()
        assert caught.value.field == field
        assert caught.value.reason.startswith(reason)


def test_a_directory_that_cannot_be_read_is_named(bench: Bench) -> None:
    with pytest.raises(BenchCaseLoadError) as caught:
        hash_case(bench.cases_dir / "gone")
    assert caught.value.field == "gone"
    assert caught.value.reason == "cannot be read: No such file or directory"


def test_an_entry_without_directory_and_a_directory_without_entry_are_errors(
    bench: Bench,
) -> None:
    bench.case("first")
    bench.case("second")
    (bench.cases_dir / "second").rename(bench.root / "away")
    with pytest.raises(BenchCaseLoadError) as caught:
        bench.load()
    assert caught.value.args == (
        bench.cases_dir / "second",
        "digests.yaml",
        "the entry 'second' has no directory; restore the case, or drop the entry: "
        "codegenie sign bench/demo-task",
    )
    bench.write(bench.cases_dir / "digests.yaml", "")
    (bench.root / "away").rename(bench.cases_dir / "second")
    with pytest.raises(BenchCaseLoadError) as caught:
        bench.load()
    assert caught.value.args == (
        bench.cases_dir / "first",
        "digests.yaml",
        "the case is not signed; sign it: codegenie sign bench/demo-task",
    )


def test_all_that_does_not_match_is_listed_at_once(bench: Bench) -> None:
    bench.case("a")
    shutil.copytree(bench.cases_dir / "a", bench.cases_dir / "A")
    sheet = bench.cases_dir / "digests.yaml"
    digest = f"blake3:{'0' * 64}"
    bench.write(
        sheet, sheet.read_text(encoding="utf-8") + f"x: {digest}\ny: {digest}\n"
    )
    listing = list_cases(bench.directory)
    assert [type(problem).__name__ for problem in listing.problems] == [
        "BenchCaseLoadError",
        "BenchCaseLoadError",
        "BenchCaseIDCollision",
    ]
    with pytest.raises(TypeError):
        listing.digests["z"] = digest  # type: ignore[index]


def test_ids_that_differ_by_case_only_collide(bench: Bench) -> None:
    bench.case("first")
    shutil.copytree(bench.cases_dir / "first", bench.cases_dir / "FIRST")
    for attempt in (bench.load, bench.sign):
        with pytest.raises(BenchCaseIDCollision) as caught:
            attempt()
        paths = tuple(bench.cases_dir / name for name in ("FIRST", "first"))
        assert caught.value.args == ("FIRST", paths)


@pytest.mark.parametrize(
    "name",
    [
        "a b",
        "it's",
        'say "a"',
        "a\nb",
        "..a",
        "-a",
        "é",
        "a" * 129,
        "a" * 255,
        "\x1b[31m",
    ],
)
def test_a_directory_whose_name_is_no_id_is_refused_whatever_its_case_id_says(
    bench: Bench, name: str
) -> None:
    directory = bench.cases_dir / name
    bench.case("first").rename(directory)
    bench.write(bench.cases_dir / "digests.yaml", "")
    path = directory / "case.toml"
    text = path.read_text(encoding="utf-8")
    quoted = "".join(f"\\u{ord(char):04x}" for char in name)
    renamed = text.replace('"first"', f'"{quoted}"')
    for content, reason in (
        (text, "is 'first', but the directory is "),
        (renamed, "must start with a letter or digit and hold only letters, digits,"),
    ):
        bench.write(path, content)
        for attempt in (bench.load, bench.sign):
            with pytest.raises(BenchCaseLoadError) as caught:
                attempt()
            assert caught.value.field == "case_id"
            assert caught.value.reason.startswith(reason)
            assert str(caught.value).isprintable()


def test_an_id_of_128_characters_and_one_that_yaml_mistakes_are_cases(
    bench: Bench,
) -> None:
    for case_id in ("a" * 128, "1e3", "no", "2026-01-01"):
        bench.case(case_id)
    bench.sign()
    cases = load_cases(read_task_class(bench.directory))
    assert {case.case_id for case in cases} == {"a" * 128, "1e3", "no", "2026-01-01"}


def test_files_caches_and_hidden_directories_in_cases_are_no_cases(
    bench: Bench,
) -> None:
    directory = bench.case()
    (bench.cases_dir / "README.md").touch()
    for name in ("__pycache__", ".pytest_cache", ".idea", ".new-abc"):
        (bench.cases_dir / name).mkdir()
    assert case_directories(bench.cases_dir) == (directory,)
    assert bench.load().case_id == "first"


def test_a_digest_that_the_caller_has_is_not_computed_again(bench: Bench) -> None:
    directory = bench.case()
    computed = hash_case(directory)
    change_a_file(directory)
    digests = {"first": computed.digest}
    assert load_case(directory, digests, computed).case_digest == computed.digest
    with pytest.raises(BenchCaseDigestMismatch):
        load_case(directory, digests)


def test_a_stale_case_is_loaded_and_logged(bench: Bench) -> None:
    directory = bench.case()
    path = directory / "case.toml"
    today = dt.datetime.now(dt.UTC).date()
    old = today - dt.timedelta(days=120)
    text = path.read_text(encoding="utf-8").replace(
        f"last_validated_at = {today}", f"last_validated_at = {old}"
    )
    bench.write(path, text)
    with capture_logs() as events:
        assert bench.load().last_validated_at == old
    assert [(event["event"], event["case_id"]) for event in events] == [
        ("loader.case_stale", "first")
    ]
