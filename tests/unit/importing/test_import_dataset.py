"""Importing: whole, signed cases, the same ones each time, and the good ones anyway."""

from __future__ import annotations

import datetime as dt
import json
import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from pytest_codegenie import task_files
from pytest_codegenie.corpus import load_cases
from pytest_codegenie.corpus import load_task_class
from pytest_codegenie.corpus import plan_signing
from pytest_codegenie.corpus import sign
from pytest_codegenie.corpus.sheet import read_sheet
from pytest_codegenie.datasets import CaseDraft
from pytest_codegenie.datasets import DatasetOptions
from pytest_codegenie.datasets import FileContent
from pytest_codegenie.datasets import Instance
from pytest_codegenie.datasets import case_id_of
from pytest_codegenie.datasets.rows import Row
from pytest_codegenie.datasets.rows import read_rows
from pytest_codegenie.datasets.rows import text_of
from pytest_codegenie.errors import BenchCaseLoadError
from pytest_codegenie.errors import ConfigError
from pytest_codegenie.errors import DatasetError
from pytest_codegenie.errors import TaskClassIncomplete
from pytest_codegenie.importing import ImportResult
from pytest_codegenie.importing import Watcher
from pytest_codegenie.importing import import_dataset
from pytest_codegenie.importing import make_task_class
from pytest_codegenie.importing import placing
from pytest_codegenie.importing.placing import Shelf
from pytest_codegenie.importing.task_class import alone_in
from pytest_codegenie.registry import TaskClassRegistry


DAY = dt.date(2026, 11, 22)


class SmallDataset:
    """A row has ``id`` and ``text``, and may have ``files`` and a ``case_id``."""

    name = "small"
    summary = "for tests"
    options_type = DatasetOptions

    def instances(self, source: str, options: DatasetOptions) -> Iterator[Instance]:
        for row in read_rows(source):
            yield Instance(text_of(row, "id"), row.place, row)

    def draft(self, instance: Instance, options: DatasetOptions) -> CaseDraft:
        row: Row = instance.data
        files = {"input/repo/text.txt": FileContent(text_of(row, "text").encode())}
        for name, content in row.data.get("files", {}).items():
            copied = isinstance(content, list)
            data = Path(content[0]) if copied else content.encode()
            files[name] = FileContent(data, executable=name.endswith(".sh"))
        if row.data.get("crash"):
            raise ZeroDivisionError("division by zero")
        return CaseDraft(
            case_id=row.data.get("case_id", case_id_of(instance.instance_id)),
            instance_id=instance.instance_id,
            task=task_files.TaskFile(
                repository=task_files.Repository(name="small", source="repo")
            ),
            tests=task_files.TestsFile(fail_to_pass=["test_a"]),
            problem=row.data.get("problem", "Do it.\n"),
            gold_patch="--- a/text.txt\n",
            files=files,
            difficulty=row.data.get("difficulty", "medium"),
            origin={"licence": "MIT"},
        )


def write(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def rows(count: int, **more: Any) -> list[dict[str, Any]]:
    return [{"id": f"small/{n}", "text": f"text {n}", **more} for n in range(count)]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write(tmp_path / "rows.jsonl", *rows(5))


@pytest.fixture
def into(tmp_path: Path) -> Path:
    return tmp_path / "bench" / "small"


def import_rows(source: Path | str, into: Path, **options: Any) -> ImportResult:
    values: dict[str, Any] = {"day": DAY} | options
    return import_dataset(SmallDataset(), str(source), DatasetOptions(), into, **values)


def verified(into: Path) -> list[str]:
    task_class = load_task_class(into.name, into.parent, registry=TaskClassRegistry())
    return [case.case_id for case in load_cases(task_class)]


def content(directory: Path) -> dict[str, bytes]:
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


# -- what comes out ------------------------------------------------------------------


def test_instances_become_signed_cases_of_a_new_task_class(
    source: Path, into: Path
) -> None:
    result = import_rows(source, into)
    assert result.counts == {"new": 5}
    assert verified(into) == [f"small-{n}" for n in range(5)]
    assert (into.parent / "conftest.py").is_file()
    assert "`codegenie import small`" in (into / "README.md").read_text("utf-8")
    origin = (into / "cases/small-3/expected/origin.toml").read_text("utf-8")
    assert 'instance_id = "small/3"\nformat = "small"\nsource = "rows.jsonl"\n' in (
        origin
    )
    assert origin.endswith('licence = "MIT"\n')
    case = (into / "cases/small-3/case.toml").read_text("utf-8")
    assert 'source = "imported"' in case
    assert "added_at = 2026-11-22" in case


def test_the_same_input_gives_the_same_bytes_whatever_the_processes(
    tmp_path: Path, source: Path
) -> None:
    write(source, *rows(20, files={"expected/overlay/run.sh": "exit 0\n"}))
    trees = []
    for number, jobs in enumerate([1, 3]):
        into = tmp_path / str(number) / "small"
        import_rows(source, into, jobs=jobs)
        trees.append(content(into))
        script = into / "cases/small-0/expected/overlay/run.sh"
        assert script.stat().st_mode & 0o777 == 0o755
    assert trees[0] == trees[1]
    # No path of this machine, and no time but the given day.
    assert not any(str(tmp_path).encode() in data for data in trees[0].values())


def test_a_second_import_changes_nothing_and_adds_what_is_new(
    source: Path, into: Path
) -> None:
    import_rows(source, into)
    before = content(into)
    result = import_rows(source, into, day=dt.date(2027, 1, 1))
    assert result.counts == {"kept": 5}
    assert content(into) == before
    write(source, *rows(6))
    assert import_rows(source, into).counts == {"kept": 5, "new": 1}
    after = content(into)
    assert {name: after[name] for name in before if "digests" not in name} == {
        name: data for name, data in before.items() if "digests" not in name
    }
    assert len(verified(into)) == 6


def test_a_task_class_that_is_there_keeps_what_it_has(source: Path, into: Path) -> None:
    import_rows(source, into, limit=1)
    rubric = into / "rubric.py"
    rubric.write_text(rubric.read_text("utf-8") + "# mine\n", "utf-8")
    import_rows(source, into)
    assert rubric.read_text("utf-8").endswith("# mine\n")


def test_the_sheet_stays_in_the_order_of_ids_or_in_the_order_of_a_person(
    source: Path, into: Path
) -> None:
    import_rows(source, into, select=["small/3"])
    import_rows(source, into, select=["small/1"])
    sheet = into / "cases" / "digests.yaml"
    assert list(read_sheet(sheet.parent)) == ["small-1", "small-3"]
    sheet.write_text("# mine\n" + sheet.read_text("utf-8"), "utf-8")
    import_rows(source, into, select=["small/0", "small/2"])
    assert list(read_sheet(sheet.parent)) == [f"small-{n}" for n in (1, 3, 0, 2)]


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        ({"limit": 2}, [0, 1]),
        ({"select": ["small/[13]"]}, [1, 3]),
        ({"select": ["small-4", "small/0"]}, [0, 4]),
        ({"select": ["small/*"], "limit": 1}, [0]),
    ],
)
def test_what_is_imported_can_be_chosen(
    source: Path, into: Path, options: dict[str, Any], ids: list[int]
) -> None:
    import_rows(source, into, **options)
    assert verified(into) == [f"small-{n}" for n in ids]


def test_a_pattern_that_matches_nothing_names_a_near_id(
    source: Path, into: Path
) -> None:
    with pytest.raises(ConfigError) as caught:
        import_rows(source, into, select=["smal/3", "small/1"])
    assert str(caught.value) == (
        "--select: 'smal/3' matches none of 5 instances (did you mean 'small/3'?); "
        "patterns are those of a shell, over whole ids, such as 'small/0'"
    )
    assert caught.value.exit_code == 4
    # What the other pattern chose is there all the same, and is signed.
    assert verified(into) == ["small-1"]


# -- what does not become a case -----------------------------------------------------


def error(source: Path, into: Path, *bad: dict[str, Any], **options: Any) -> str:
    """Import rows between two good ones; return what is wrong with the only bad one."""
    good = [{"id": "first", "text": ""}, {"id": "last", "text": ""}]
    write(source, good[0], *bad, good[1])
    result = import_rows(source, into, **options)
    assert {"first", "last"} <= set(verified(into))
    assert result.counts["new"] == 1 + len(bad)
    (fault,) = result.errors
    return str(fault)


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"text": "x"}, "rows.jsonl, line 2: id: missing"),
        ({"id": "b"}, "rows.jsonl, line 2: text: missing"),
    ],
)
def test_a_row_that_cannot_be_read_on_ends_it_or_is_left_out(
    source: Path, into: Path, row: dict[str, Any], message: str, jobs: int
) -> None:
    write(source, {"id": "first", "text": ""}, row, {"id": "last", "text": ""})
    if "id" in row:
        result = import_rows(source, into, jobs=jobs)
        assert str(result.errors[0]).startswith(message)
        assert verified(into) == ["first", "last"]
        return
    # What comes out of ``instances`` itself cannot be gone over.
    with pytest.raises(DatasetError, match=message):
        import_rows(source, into, jobs=jobs)
    assert verified(into) == ["first"]


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        ("../../evil.txt", "leads out of the case"),
        ("input/../../../evil.txt", "leads out of the case"),
        ("/etc/evil", "leads out of the case"),
        ("input//x", "is no plain relative path"),
        ("input/a\x00b", "is no plain relative path"),
        ("case.toml", "is neither in input/ nor in expected/"),
        (
            "input/repo/.git/config",
            "is in a .git, whose configuration git would follow",
        ),
        ("input/repo/.GIT/hooks/x", "is in a .git, whose configuration git would"),
        ("input/" + "x" * 300, "is too long: 1024 bytes, 255 a part"),
        ("input/\ud800", "is not UTF-8"),
    ],
)
def test_no_path_leads_out_of_a_case(
    source: Path, into: Path, path: str, fault: str
) -> None:
    bad = {"id": "b", "text": "", "files": {path: "evil"}}
    before = {p for p in into.parent.parent.parent.rglob("evil*")}
    assert fault in error(source, into, bad).replace("\\x00", "\x00")
    assert {p for p in into.parent.parent.parent.rglob("evil*")} == before


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            {"id": "b", "text": "", "crash": True},
            "rows.jsonl, line 2 (b): the format 'small' failed on it: "
            "ZeroDivisionError: division by zero",
        ),
        (
            {"id": "...", "text": ""},
            "rows.jsonl, line 2 (...): instance_id: gives the case id ''; an id starts "
            "with a letter or digit and holds letters, digits, '.', '_' and '-', 128 "
            "at most",
        ),
        (
            {"id": "b", "text": "", "case_id": "../x"},
            "rows.jsonl, line 2 (b): instance_id: gives the case id '../x'; an id "
            "starts with a letter or digit and holds letters, digits, '.', '_' and "
            "'-', 128 at most",
        ),
        (
            {"id": "b", "text": "", "problem": "half \ud800"},
            "rows.jsonl, line 2 (b): holds \\ud800 alone, half of a surrogate pair, "
            "which is no character; mend the row",
        ),
        (
            {"id": "b", "text": "", "difficulty": "trivial"},
            "rows.jsonl, line 2 (b): difficulty: Input should be 'easy', "
            "'medium' or 'hard', got 'trivial'",
        ),
        (
            {"id": "b", "text": "", "files": {"input/a": "", "input/a/b": ""}},
            "rows.jsonl, line 2 (b): files: 'input/a' is a file and a directory",
        ),
    ],
)
def test_what_no_case_can_be_is_said(
    source: Path, into: Path, row: dict[str, Any], message: str
) -> None:
    assert error(source, into, row) == message
    assert not (into / "cases" / ".import").exists()


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("second", ["b", "B"])
def test_two_instances_cannot_have_one_case_id(
    source: Path, into: Path, second: str, jobs: int
) -> None:
    bad = [{"id": "b", "text": "1"}, {"id": second, "text": "2"}]
    message = error(source, into, *bad, jobs=jobs)
    assert message.startswith(
        f"rows.jsonl, line 3 ({second}): instance_id: the case id {second!r} is also "
        "that of rows.jsonl, line 2 (b); ids are compared without case"
    )
    assert verified(into) == ["b", "first", "last"]
    assert (into / "cases/b/input/repo/text.txt").read_text("utf-8") == "1"


def test_an_id_that_differs_by_case_from_one_that_is_there_is_refused(
    source: Path, into: Path
) -> None:
    import_rows(write(source, {"id": "Known", "text": ""}), into)
    write(source, {"id": "known", "text": ""})
    (fault,) = import_rows(source, into).errors
    assert "cases/Known differs from the case id 'known' by case only" in str(fault)


def test_a_link_that_leads_out_of_the_dataset_is_not_followed(
    tmp_path: Path, into: Path
) -> None:
    (tmp_path / "secret").write_text("s", "utf-8")
    data = tmp_path / "data"
    data.mkdir()
    (data / "link").symlink_to(tmp_path / "secret")
    (data / "inner").write_text("i", "utf-8")
    (data / "fine").symlink_to("inner")
    bad = {"id": "b", "text": "", "files": {"input/x": [str(data / "link")]}}
    assert error(data / "rows.jsonl", into, bad) == (
        "rows.jsonl, line 2 (b): input/x: is a link that leads out of the dataset; put "
        "a copy there"
    )
    good = {"id": "g", "text": "", "files": {"input/x": [str(data / "fine")]}}
    import_rows(write(data / "rows.jsonl", good), into)
    assert (into / "cases/g/input/x").read_text("utf-8") == "i"
    assert not (into / "cases/g/input/x").is_symlink()


def test_a_source_without_a_usable_instance_leaves_nothing_behind(
    tmp_path: Path, source: Path, into: Path
) -> None:
    write(source, {"id": "a"}, {"id": "b"})
    assert import_rows(source, into).counts == {"failed": 2}
    (tmp_path / "rows.json").write_text("[]", "utf-8")
    with pytest.raises(DatasetError, match=r"rows\.json: holds no instance"):
        import_rows(tmp_path / "rows.json", into)
    with pytest.raises(DatasetError, match=r"gone\.jsonl: missing"):
        import_rows(tmp_path / "gone.jsonl", into)
    assert not into.exists()


# -- cases that are there ------------------------------------------------------------


def test_a_case_that_was_changed_is_named_and_stays(source: Path, into: Path) -> None:
    import_rows(source, into)
    (into / "cases/small-1/input/problem.md").write_text("mine\n", "utf-8")
    (into / "cases/small-1/input/more.txt").touch()
    sign(plan_signing(into))
    before = content(into)
    result = import_rows(source, into)
    assert result.counts == {"kept": 4, "differs": 1}
    assert str(result.errors[0]) == (
        "rows.jsonl, line 2 (small/1): the case 'small-1' is there already and is "
        "another one (input/more.txt, input/problem.md); --replace writes it anew"
    )
    assert content(into) == before
    assert import_rows(source, into, replace=True).counts == {"kept": 4, "replaced": 1}
    assert not (into / "cases/small-1/input/more.txt").exists()
    assert len(verified(into)) == 5


def test_what_somebody_else_signed_is_not_vouched_for(source: Path, into: Path) -> None:
    import_rows(source, into)
    sheet = into / "cases" / "digests.yaml"
    text = sheet.read_text("utf-8")
    digest = read_sheet(sheet.parent)["small-2"]
    wrong = f"blake3:{'0' * 64}"
    sheet.write_text(text.replace(digest, wrong), "utf-8")
    (fault,) = import_rows(source, into).errors
    assert "'small-2' is there already and is another one (digests.yaml)" in str(fault)
    assert read_sheet(sheet.parent)["small-2"] == wrong


def test_a_case_beside_those_that_are_imported_is_not_signed(
    source: Path, into: Path
) -> None:
    import_rows(source, into, limit=2)
    (into / "cases/small-0/input/problem.md").write_text("tampered\n", "utf-8")
    import_rows(source, into, select=["small/4"])
    with pytest.raises(Exception, match="small-0: digest mismatch"):
        verified(into)


def test_dates_and_marks_of_a_case_stay_until_it_is_replaced(
    source: Path, into: Path
) -> None:
    import_rows(source, into)
    file = into / "cases/small-0/case.toml"
    original = file.read_text("utf-8")
    marked = original.replace('"positive"', '"ambiguous"')
    file.write_text(marked, "utf-8")
    assert import_rows(source, into).counts == {"kept": 5}
    assert file.read_text("utf-8") == marked
    result = import_rows(source, into, replace=True, day=dt.date(2027, 1, 1))
    assert result.counts == {"kept": 4, "replaced": 1}
    assert file.read_text("utf-8") == original.replace("2026-11-22", "2027-01-01")


def test_a_longer_copy_of_the_dataset_is_the_same_dataset(
    tmp_path: Path, source: Path, into: Path
) -> None:
    import_rows(source, into)
    longer = write(tmp_path / "longer.jsonl", *rows(7))
    assert import_rows(longer, into).counts == {"kept": 5, "new": 2}
    origin = (into / "cases/small-0/expected/origin.toml").read_text("utf-8")
    assert 'source = "rows.jsonl"' in origin


# -- what ends half way --------------------------------------------------------------


def test_what_a_killed_import_left_is_finished(source: Path, into: Path) -> None:
    import_rows(source, into)
    whole = content(into)
    # Killed after two were placed, before they were signed, while a third was written.
    cases = into / "cases"
    (cases / "digests.yaml").write_text("", "utf-8")
    half = cases / ".import" / "small-2"
    half.mkdir(parents=True)
    (half / "case.toml").write_text("half", "utf-8")
    for number in (2, 3, 4):
        shutil.rmtree(cases / f"small-{number}")
    assert import_rows(source, into).counts == {"kept": 2, "new": 3}
    assert content(into) == whole


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupted_import_signs_what_is_there(
    source: Path, into: Path, jobs: int
) -> None:
    seen = 0

    def interrupt(counts: object) -> None:
        nonlocal seen
        seen += 1
        if seen == 3:
            raise KeyboardInterrupt

    result = ImportResult(into)
    with pytest.raises(KeyboardInterrupt):
        import_rows(
            source, into, jobs=jobs, watcher=Watcher(counted=interrupt), result=result
        )
    assert result.counts == {"new": 3}
    assert verified(into) == ["small-0", "small-1", "small-2"]
    assert not (into / "cases" / ".import").exists()
    assert import_rows(source, into).counts == {"kept": 3, "new": 2}


def test_a_task_class_is_made_by_one_of_many(into: Path) -> None:
    def make() -> None:
        make_task_class(into, "small", "rows.jsonl")

    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(make) for _ in range(16)]:
            done.result()
    assert verified(into) == []


def test_one_import_waits_for_another(source: Path, into: Path) -> None:
    import_rows(source, into, limit=1)
    waiting = threading.Event()
    done: list[ImportResult] = []

    def second() -> None:
        watcher = Watcher(waiting=waiting.set)
        done.append(import_rows(source, into, watcher=watcher))

    thread = threading.Thread(target=second)
    with alone_in(into, lambda: None):
        thread.start()
        assert waiting.wait(60)
        assert not done
    thread.join(60)
    assert done[0].counts == {"kept": 1, "new": 4}


def test_signing_grows_with_what_is_there(
    source: Path, into: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each signing writes the whole sheet, so there are few of them."""
    signed: list[int] = []
    real = Shelf.sign

    def counted(shelf: Shelf) -> None:
        if shelf._pending:
            signed.append(len(shelf._pending))
        real(shelf)

    monkeypatch.setattr(Shelf, "sign", counted)
    monkeypatch.setattr(placing, "_BATCH", 4)
    import_rows(write(source, *rows(30)), into)
    assert signed == [4, 4, 4, 6, 9, 3]


# -- where it goes -------------------------------------------------------------------


def test_a_directory_of_something_else_is_not_touched(source: Path, into: Path) -> None:
    into.mkdir(parents=True)
    (into / "mine.txt").touch()
    with pytest.raises(TaskClassIncomplete, match="is there, and is no task class"):
        import_rows(source, into)
    assert [path.name for path in into.iterdir()] == ["mine.txt"]


def test_an_empty_directory_will_do(source: Path, into: Path) -> None:
    into.mkdir(parents=True)
    assert import_rows(source, into).counts == {"new": 5}


def test_a_sheet_that_cannot_be_used_stops_it_before_anything_is_written(
    source: Path, into: Path
) -> None:
    import_rows(source, into, limit=1)
    (into / "cases" / "digests.yaml").write_text("[", "utf-8")
    with pytest.raises(BenchCaseLoadError, match="not usable YAML"):
        import_rows(source, into)
    assert [path.name for path in (into / "cases").iterdir() if path.is_dir()] == [
        "small-0"
    ]
