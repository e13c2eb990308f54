"""Signing: what it changes, and that it changes nothing else."""

from __future__ import annotations

import fcntl
import os
import resource
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from support import Bench

from pytest_codegenie.corpus import SigningPlan
from pytest_codegenie.corpus import hash_case
from pytest_codegenie.corpus import load_cases
from pytest_codegenie.corpus import plan_signing
from pytest_codegenie.corpus import read_task_class
from pytest_codegenie.corpus import sign
from pytest_codegenie.errors import BenchCaseDigestMismatch
from pytest_codegenie.errors import BenchCaseLoadError


def sheet(bench: Bench) -> str:
    return (bench.cases_dir / "digests.yaml").read_text(encoding="utf-8")


def test_a_plan_says_what_changes_and_writes_nothing(bench: Bench) -> None:
    for case_id in ("changed", "removed", "same"):
        bench.case(case_id)
    before = sheet(bench)
    old = {
        name: hash_case(bench.cases_dir / name).digest
        for name in ("changed", "removed")
    }
    bench.write(bench.cases_dir / "changed/input/problem.md", "other")
    bench.write(bench.cases_dir / "removed", None)
    bench.case("unsigned")
    bench.write(bench.cases_dir / "digests.yaml", before)
    plan = plan_signing(bench.directory)
    new = {
        name: hash_case(bench.cases_dir / name).digest
        for name in ("changed", "unsigned")
    }
    assert plan.changes == [
        f"changed  changed  {old['changed']} -> {new['changed']}",
        f"removed  removed  {old['removed']}",
        f"new      unsigned  {new['unsigned']}",
    ]
    assert sheet(bench) == before
    sign(plan)
    assert plan_signing(bench.directory).changes == []
    cases = load_cases(read_task_class(bench.directory))
    assert [case.case_id for case in cases] == ["changed", "same", "unsigned"]


def test_a_task_class_may_be_given_as_the_working_directory(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.case()
    monkeypatch.chdir(bench.directory)
    bench.write(bench.cases_dir / "digests.yaml", "")
    sign(plan_signing(Path()))
    assert bench.load().case_id == "first"


def test_comments_and_the_order_of_the_other_entries_stay(bench: Bench) -> None:
    for case_id in ("a", "b", "c"):
        bench.case(case_id)
    digests = {
        name: hash_case(bench.cases_dir / name).digest for name in ("a", "b", "c")
    }
    text = f"# head\nc: {digests['c']}  # last but first\n# a note\na: {digests['a']}\n"
    bench.write(bench.cases_dir / "digests.yaml", text)
    bench.sign()
    assert sheet(bench) == f"{text}b: {digests['b']}\n"
    before = (bench.cases_dir / "digests.yaml").read_bytes()
    bench.sign()
    assert (bench.cases_dir / "digests.yaml").read_bytes() == before


def test_what_somebody_signed_after_the_plan_was_made_stays(bench: Bench) -> None:
    bench.case("a")
    bench.write(bench.cases_dir / "a/input/problem.md", "other")
    plan = plan_signing(bench.directory)
    bench.case("b")
    sign(plan)
    assert {case.case_id for case in load_cases(read_task_class(bench.directory))} == {
        "a",
        "b",
    }


def test_a_signer_waits_for_another_and_keeps_what_that_one_wrote(bench: Bench) -> None:
    bench.case("a")
    plan = plan_signing(bench.directory)
    bench.write(bench.cases_dir / "digests.yaml", None)
    fd = os.open(bench.cases_dir, os.O_RDONLY)
    fcntl.flock(fd, fcntl.LOCK_EX)
    waiting = SigningPlan(plan.cases_dir, before={}, after=plan.after)
    signer = threading.Thread(target=sign, args=(waiting,))
    signer.start()
    signer.join(0.2)
    assert signer.is_alive()
    other = f"other: blake3:{'0' * 64}\n"
    bench.write(bench.cases_dir / "digests.yaml", other)
    os.close(fd)
    signer.join()
    assert sheet(bench) == f"{other}a: {plan.after['a']}\n"


def test_new_cases_of_several_processes_are_all_signed(bench: Bench) -> None:
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from pytest_codegenie.corpus import new_case\n"
        "for number in range(4):\n"
        "    new_case(Path(sys.argv[1]), f'{sys.argv[2]}-{number}')\n"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", script, os.fspath(bench.directory), name]
        )
        for name in ("x", "y", "z")
    ]
    assert [process.wait() for process in processes] == [0, 0, 0]
    cases = load_cases(read_task_class(bench.directory))
    assert len(cases) == 12
    assert {path.name for path in bench.cases_dir.iterdir() if path.is_file()} == {
        "digests.yaml"
    }


def limit_file_size() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (60, 60))


def test_on_a_full_disk_the_sheet_stays_as_it_was(bench: Bench) -> None:
    bench.case()
    before = sheet(bench)
    bench.write(bench.cases_dir / "first/input/problem.md", "other")
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from pytest_codegenie.corpus import plan_signing, sign\n"
        "plan = plan_signing(Path(sys.argv[1]))\n"
        "try:\n"
        "    sign(plan)\n"
        "except OSError as exc:\n"
        "    print(exc.strerror)\n"
    )
    run = subprocess.run(
        [sys.executable, "-B", "-c", script, os.fspath(bench.directory)],
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=limit_file_size,
    )
    assert run.stdout == "File too large\n"
    assert sheet(bench) == before
    assert {path.name for path in bench.cases_dir.iterdir()} == {
        "digests.yaml",
        "first",
    }


def test_a_case_that_cannot_be_loaded_is_not_signed(bench: Bench) -> None:
    bench.case("a")
    bench.case("b")
    before = sheet(bench)
    bench.write(bench.cases_dir / "a/input/problem.md", "other")
    path = bench.cases_dir / "b/case.toml"
    text = path.read_text(encoding="utf-8")
    bench.write(path, text.replace('"easy"', '"simple"'))
    with pytest.raises(BenchCaseLoadError, match="difficulty: Input should be 'easy'"):
        bench.sign()
    bench.write(path, f'{text}case_digest = "blake3:{"0" * 64}"\n')
    with pytest.raises(
        BenchCaseDigestMismatch, match=r"or give case\.toml the computed"
    ):
        bench.sign()
    assert sheet(bench) == before


def test_a_sheet_that_cannot_be_read_is_not_overwritten(bench: Bench) -> None:
    bench.case()
    plan = plan_signing(bench.directory)
    conflict = "<<<<<<< HEAD\nfirst: a\n=======\n"
    bench.write(bench.cases_dir / "digests.yaml", conflict)
    with pytest.raises(BenchCaseLoadError, match="not usable YAML"):
        plan_signing(bench.directory)
    with pytest.raises(BenchCaseLoadError, match="not usable YAML"):
        sign(plan)
    assert sheet(bench) == conflict
