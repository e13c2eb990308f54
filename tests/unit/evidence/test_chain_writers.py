"""Several writers of one chain at once, and writers that are killed."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

from pytest_codegenie.errors import RunStoreError
from pytest_codegenie.evidence.audit.canonical import canonical_json
from pytest_codegenie.evidence.audit.chain import AUDIT
from pytest_codegenie.evidence.audit.chain import CHAIN
from pytest_codegenie.evidence.audit.chain import Chain
from pytest_codegenie.evidence.audit.chain import append_records
from pytest_codegenie.evidence.audit.chain import check_chain


#: One interpreter that forks its writers: imports are paid for once.
PRELUDE = """
import json, os, random, signal, sys, time
from pathlib import Path
from pytest_codegenie.evidence.audit.canonical import canonical_json
from pytest_codegenie.evidence.audit.chain import Chain, append_records, check_chain

out = Path(sys.argv[1])

def content(writer, number, size):
    report = {"run_id": f"{writer}-{number}", "padding": "x" * size}
    return canonical_json({"report": report, "results": {}})
"""

AT_ONCE = """
def write(writer):
    for number in range(count):
        append_records(out, [content(writer, f"{number}{half}", 500) for half in "ab"])
    os._exit(0)

writers, count = int(sys.argv[2]), int(sys.argv[3])
pids = []
for writer in range(writers):
    pid = os.fork()
    if pid == 0:
        write(writer)
    pids.append(pid)
codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]
print(json.dumps(codes))
"""

KILLED = """
def write(writer, told):
    for number in range(10**6):
        # Larger than what one write to a pipe or a page takes.
        appended = append_records(out, [content(writer, number, size)])
        os.write(told, f"{appended.head}\\n".encode())

random.seed(int(sys.argv[2]))
torn, heads = 0, []
for writer in range(int(sys.argv[3])):
    size = random.choice([100, 20_000, 300_000])
    read, told = os.pipe()
    pid = os.fork()
    if pid == 0:
        write(writer, told)
    os.close(told)
    with os.fdopen(read) as lines:
        heads += [lines.readline().strip() for _ in range(random.randrange(3))]
        time.sleep(random.uniform(0, 0.01))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        heads += lines.read().split()
    torn += check_chain(out).torn_bytes > 0
links = [entry.link for entry in Chain(out)]
print(json.dumps({
    "torn": torn,
    "told": len(heads),
    "lost": len(set(heads) - {link.chain_head for link in links}),
    "records": len(links),
}))
"""


def run_script(script: str, *arguments: object) -> Any:
    done = subprocess.run(
        [sys.executable, "-B", "-c", PRELUDE + script, *map(str, arguments)],
        capture_output=True,
        check=True,
        text=True,
    )
    return json.loads(done.stdout)


def test_writers_at_once_append_whole_records_one_after_the_other(
    tmp_path: Path,
) -> None:
    assert run_script(AT_ONCE, tmp_path, 3, 40) == [0, 0, 0]
    runs = [entry.values()["report"]["run_id"] for entry in Chain(tmp_path)]
    assert len(runs) == 240
    assert set(runs) == {
        f"{writer}-{number}{half}"
        for writer in range(3)
        for number in range(40)
        for half in "ab"
    }
    # What is appended together stays together, and a writer's own are in its order.
    assert all(
        one[:-1] == other[:-1] for one, other in zip(runs[::2], runs[1::2], strict=True)
    )
    for writer in range(3):
        own = [run for run in runs if run.startswith(f"{writer}-")]
        assert own == [
            f"{writer}-{number}{half}" for number in range(40) for half in "ab"
        ]


def test_a_writer_that_is_killed_loses_no_record_that_anybody_heard_of(
    tmp_path: Path,
) -> None:
    found = run_script(KILLED, tmp_path, 7, 40)
    assert found["told"] > 20, "the writers were killed before they wrote"
    assert found["lost"] == 0
    assert found["records"] >= found["told"]
    # One more than was heard of at most, of each: killed between the two.
    assert found["records"] <= found["told"] + 40
    assert check_chain(tmp_path).records == found["records"]


def test_a_full_disk_leaves_the_chain_as_it_was(tmp_path: Path) -> None:
    append_records(tmp_path, [canonical_json({"report": {"run_id": "a"}})])
    before = (tmp_path / AUDIT / CHAIN).read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            # No file may become longer: the same as no room, from where it counts.
            import signal

            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 100, hard))
            append_records(tmp_path, [canonical_json({"report": {"x": "y" * 999}})])
        except RunStoreError as exc:
            code = 0 if "File too large" in str(exc) else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert resource.getrlimit(resource.RLIMIT_FSIZE) == (soft, hard)
    assert (tmp_path / AUDIT / CHAIN).read_bytes() == before
    assert check_chain(tmp_path).records == 1
