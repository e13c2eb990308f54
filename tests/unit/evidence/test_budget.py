"""One budget for all agents of a run: what it lets start, and what it never forgets."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import Bench
from support_runs import result

from pytest_codegenie.errors import RunStoreError
from pytest_codegenie.evidence.budget.account import Account
from pytest_codegenie.evidence.budget.account import LedgerEntry
from pytest_codegenie.evidence.budget.account import to_nano
from pytest_codegenie.evidence.budget.account import to_usd
from pytest_codegenie.evidence.budget.account import wish
from pytest_codegenie.evidence.budget.ledger import DoesNotFit
from pytest_codegenie.evidence.budget.ledger import Ledger
from pytest_codegenie.evidence.budget.ledger import dollars
from pytest_codegenie.evidence.history import Kind
from pytest_codegenie.models import CaseJob
from pytest_codegenie.models import CaseResult
from pytest_codegenie.models import utc_now


KIND = Kind("demo-task", "command", "command")
#: Processes that end by themselves do so long before.
PATIENCE_SECONDS = 120


class Books:
    """A ledger with cases that cost what a test says."""

    def __init__(self, path: Path, job: CaseJob) -> None:
        self.path = path
        self.job = job
        self.ledger = Ledger(path)

    def begin(self, cap_usd: float, *results: CaseResult) -> None:
        self.ledger.begin(cap_usd, results)

    def reserve(
        self,
        *,
        limit: float | None = None,
        past: tuple[float, ...] = (),
        workers: int = 1,
        **fields: Any,
    ) -> str | None:
        job = self.job.model_copy(update=fields)
        return self.ledger.reserve(job, limit_usd=limit, past_usd=past, workers=workers)

    def started(self, **options: Any) -> str:
        name = self.reserve(**options)
        assert name is not None
        self.ledger.start(name)
        return name

    def spend(
        self, cost: float | None, outcome: str = "passed", **options: Any
    ) -> None:
        name = self.started(**options)
        self.ledger.settle(name, ended(cost, outcome))

    @property
    def entries(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.path.read_bytes().splitlines()]

    def figures(self) -> tuple[float, float, int]:
        """Return what another process sees: spent, held, unknown."""
        budget = Ledger(self.path).budget()
        return budget.spent_usd, budget.held_usd, budget.unknown


def ended(cost: float | None, outcome: str = "passed", **fields: Any) -> CaseResult:
    fields = {"task_class": "demo-task", "agent": "command", **fields}
    return result("first", outcome, cost=cost, agent_name="command", **fields)


@pytest.fixture
def books(tmp_path: Path, bench: Bench) -> Books:
    bench.case()
    return Books(tmp_path / "budget.jsonl", bench.job(agent="command"))


# -- how much is reserved ----------------------------------------------------------


def wished(costs: tuple[float, ...] = (), **options: Any) -> tuple[float, str]:
    account = Account(cap=to_nano(10), costs={KIND: [*map(to_nano, costs)]})
    given = {"limit_usd": None, "past_usd": (), "workers": 4, **options}
    amount, basis, _ = wish(account, KIND, **given)
    return to_usd(amount), basis


def test_what_is_known_best_says_how_much_is_reserved() -> None:
    known = {"past_usd": (0.2, 0.3)}
    assert wished((0.1,), limit_usd=2.0, **known) == (2.0, "the agent's own limit")
    assert wished((0.1,), **known) == (0.1, "what such cases cost in this run")
    assert wished(**known) == (0.3, "what such cases cost in earlier runs")
    assert wished() == (2.5, "an equal share, as nothing is known")
    assert wished(workers=1)[0] == 10.0


def test_nine_of_ten_such_cases_cost_no_more_than_is_reserved() -> None:
    costs = tuple(number / 100 for number in range(1, 21))
    assert wished(costs)[0] == 0.18
    assert wished(costs[:9])[0] == 0.09
    assert wished((*costs[:9], 8.0))[0] == 0.09
    assert wished((0.0,))[0] == 0.0


@given(cap=st.floats(min_value=0.01, max_value=1e6), workers=st.integers(1, 64))
def test_equal_shares_of_all_workers_fit(cap: float, workers: int) -> None:
    account = Account()
    account.take(LedgerEntry(event="session", at=utc_now(), usd=cap))
    for number in range(workers):
        amount, _, _ = wish(account, KIND, limit_usd=None, past_usd=(), workers=workers)
        assert 0 < amount <= account.free
        entry = {"event": "reserve", "at": utc_now(), "reservation": str(number)}
        account.take(LedgerEntry.model_validate({**entry, "usd": to_usd(amount)}))
    assert account.free < workers


@given(st.integers(0, 10**15))
def test_an_amount_is_the_same_after_it_was_written(nano: int) -> None:
    assert to_nano(json.loads(json.dumps(to_usd(nano)))) == nano


# -- what becomes of a case --------------------------------------------------------


def test_a_cost_is_spent_and_the_next_case_reserves_as_much(books: Books) -> None:
    books.begin(1.0)
    books.spend(0.3)
    books.spend(0.3)
    books.spend(0.3)
    assert books.figures() == (0.9, 0.0, 0)
    with pytest.raises(DoesNotFit) as caught:
        books.reserve()
    assert str(caught.value) == (
        "the cost cap of 1.00 USD: 0.90 spent, 0.10 left, 0.30 to be reserved (what "
        "such cases cost in this run)"
    )
    assert Ledger(books.path).budget().refused == 1


def test_an_unknown_cost_is_held_and_never_nothing(books: Books) -> None:
    books.begin(1.0)
    books.spend(None, limit=0.4)
    assert books.figures() == (0.0, 0.4, 1)
    books.spend(0.1, limit=0.4)
    with pytest.raises(DoesNotFit, match=r"0.10 spent and 0.40 held, 0.50 left, 0.60"):
        books.reserve(limit=0.6)


def test_a_case_waits_while_others_may_leave_something(books: Books) -> None:
    books.begin(1.0)
    first = books.started(limit=0.7)
    assert books.reserve(limit=0.7) is None
    books.ledger.settle(first, ended(0.2))
    assert books.reserve(limit=0.7) is not None


def test_a_case_that_can_never_fit_does_not_wait(books: Books) -> None:
    books.begin(1.0)
    books.started(limit=0.7)
    with pytest.raises(DoesNotFit):
        books.reserve(limit=1.5)


def test_what_is_spent_over_the_cap_leaves_nothing(books: Books) -> None:
    books.begin(1.0)
    books.spend(1.4)
    with pytest.raises(DoesNotFit, match=r"1.40 spent, 0.00 left"):
        books.reserve()


def test_an_agent_that_costs_nothing_starts_while_nothing_is_over(
    books: Books,
) -> None:
    books.begin(1.0)
    books.spend(0.0)
    held = books.started(limit=1.0)
    assert books.reserve() is not None
    books.ledger.settle(held, ended(1.1))
    # What is open now may still end.
    assert books.reserve() is None


def test_errors_say_nothing_of_what_such_cases_cost(books: Books) -> None:
    books.begin(1.0)
    books.spend(0.0, "error")
    assert not books.ledger.knows(KIND)
    books.reserve()
    assert books.entries[-1]["basis"] == "an equal share, as nothing is known"


def test_an_agent_that_could_not_be_started_gives_all_back(books: Books) -> None:
    books.begin(1.0)
    name = books.started(limit=0.6)
    books.ledger.settle(name, ended(None, "error", mode="agent.unavailable"))
    never = books.reserve(limit=0.6)
    assert never is not None
    books.ledger.settle(never, ended(None, "error", mode="workspace.error"))
    assert books.figures() == (0.0, 0.0, 0)


# -- what agents tell while they run -----------------------------------------------


def test_it_is_over_when_what_runs_and_what_was_spent_exceed_the_cap(
    books: Books,
) -> None:
    books.begin(1.0)
    books.spend(0.3, limit=0.3)
    first, second = books.started(limit=0.3), books.started(limit=0.3)
    books.ledger.use(first, 0.6)
    # What tells nothing counts as what is reserved for it.
    assert books.ledger.is_over()
    books.ledger.use(second, 0.1)
    other = Ledger(books.path)
    assert not other.is_over()
    other.use(second, 0.11)
    assert Ledger(books.path).is_over()


def test_what_was_told_is_held_where_the_end_is_unknown(books: Books) -> None:
    books.begin(1.0)
    name = books.started(limit=0.1)
    books.ledger.use(name, 0.25)
    assert books.figures() == (0.0, 0.25, 1)
    books.ledger.settle(name, None)
    assert books.figures() == (0.0, 0.25, 1)


def test_a_cost_never_sinks(books: Books) -> None:
    books.begin(1.0)
    name = books.started(limit=0.5)
    books.ledger.use(name, 0.4)
    books.ledger.use(name, 0.2)
    books.ledger.settle(name, ended(0.3))
    assert books.figures() == (0.4, 0.0, 0)


def test_telling_often_does_not_fill_the_ledger(books: Books) -> None:
    books.begin(1.0)
    name = books.started(limit=1.0)
    for number in range(20_000):
        books.ledger.use(name, number / 100_000)
    assert len(books.entries) <= 3 + 200


# -- sessions of one run -----------------------------------------------------------


def test_the_cap_is_of_the_run_and_a_later_session_may_raise_it(books: Books) -> None:
    books.begin(1.0)
    books.spend(0.9)
    with pytest.raises(DoesNotFit):
        books.reserve()
    later = Books(books.path, books.job)
    later.begin(2.0)
    assert later.ledger.budget().refused == 0
    later.spend(0.9)
    assert later.figures() == (1.8, 0.0, 0)


def test_results_of_a_session_without_a_budget_are_spent(books: Books) -> None:
    results = [
        ended(0.25),
        ended(0.5, trial=2),
        ended(None, trial=3),
        ended(9.0, trial=4, provenance="regraded"),
        ended(None, "error", trial=5, mode="agent.unavailable"),
        ended(0.125, "error", attempt=2),
    ]
    books.begin(1.0, *results)
    assert books.figures() == (0.875, 0.0, 1)
    assert books.ledger.knows(KIND)
    Books(books.path, books.job).begin(1.0, *results)
    assert books.figures() == (0.875, 0.0, 1)


def test_what_was_settled_is_not_spent_again_by_its_result(books: Books) -> None:
    books.begin(1.0)
    books.spend(0.25)
    crashed = books.started(limit=0.5, trial=2)
    later = Books(books.path, books.job)
    later.begin(1.0, ended(0.25), ended(None, "error", trial=2, output=None))
    assert later.figures() == (0.25, 0.5, 1)
    later.ledger.settle(crashed, ended(0.1))  # a process that should be dead
    assert later.figures() == (0.25, 0.5, 1)


# -- processes ---------------------------------------------------------------------

_PRELUDE = """
import random, sys, time
from pathlib import Path
from pytest_codegenie.evidence.budget.ledger import DoesNotFit, Ledger
from pytest_codegenie.models import AgentOutput, CaseJob, CaseResult, HarnessOutput
path, job = Path(sys.argv[1]), CaseJob.from_json(Path(sys.argv[2]).read_bytes())
ledger = Ledger(path)
def reserve(limit):
    return ledger.reserve(job, limit_usd=limit, past_usd=(), workers=2)
"""


@pytest.fixture
def start(books: Books, tmp_path: Path) -> Iterator[Any]:
    """Start a program with the ledger; whatever goes wrong, it is ended."""
    job = tmp_path / "job.json"
    job.write_text(books.job.to_json(), encoding="utf-8")
    programs = []

    def start(code: str, *arguments: str) -> subprocess.Popen[str]:
        script = _PRELUDE + textwrap.dedent(code)
        command = [sys.executable, "-c", script, str(books.path), str(job)]
        program = subprocess.Popen(
            [*command, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        programs.append(program)
        return program

    yield start
    for program in programs:
        program.kill()
        program.wait()
        assert program.stdin
        assert program.stdout
        program.stdin.close()
        program.stdout.close()


_WORKER = """
rng = random.Random(int(sys.argv[3]))
result = CaseResult.from_json(Path(sys.argv[4]).read_bytes())
first = reserve(0.03)
ledger.start(first)
print("open", flush=True)
sys.stdin.readline()  # until all have one open
ledger.settle(first, None)
while True:
    limit = rng.choice([0.03, 0.07, 0.11])
    try:
        name = reserve(limit)
    except DoesNotFit:
        break
    if name is None:
        time.sleep(0.001)
        continue
    ledger.start(name)
    if rng.random() < 0.2:
        ledger.settle(name, None)
        continue
    agent = result.output.agent.model_copy(update={"cost_usd": rng.random() * limit})
    output = result.output.model_copy(update={"agent": agent})
    ledger.settle(name, result.model_copy(update={"output": output}))
"""


def test_workers_that_race_for_the_last_cent_never_exceed_the_cap(
    books: Books, start: Any, tmp_path: Path
) -> None:
    books.begin(1.0)
    done = tmp_path / "result.json"
    done.write_text(ended(0.0).to_json(), encoding="utf-8")
    seed = random.randrange(1 << 30)
    print(f"seed {seed}")
    workers = [start(_WORKER, str(seed + number), str(done)) for number in range(3)]
    for worker in workers:
        assert worker.stdout.readline() == "open\n"
    for worker in workers:
        worker.stdin.close()
    for worker in workers:
        assert worker.wait(PATIENCE_SECONDS) == 0
    account = Account()
    events = [LedgerEntry.model_validate(entry) for entry in books.entries]
    most_open = 0
    for entry in events:
        account.take(entry)
        assert account.free >= 0, entry
        most_open = max(most_open, len(account.open))
    assert most_open >= 3
    assert not account.open
    assert account.spent + account.held <= account.cap
    # They ended as the smallest case of all did not fit any more, in each of them.
    assert account.refused == 3
    assert account.left < to_nano(0.11)


_HOLDER = """
name = reserve(0.6)
if sys.argv[3] == "started":
    ledger.start(name)
print(name, flush=True)
time.sleep(1000)
"""


@pytest.mark.parametrize(("phase", "held"), [("started", 0.6), ("reserved", 0.0)])
def test_a_process_that_is_killed_leaves_what_its_agent_may_have_cost(
    books: Books, start: Any, phase: str, held: float
) -> None:
    books.begin(1.0)
    holder = start(_HOLDER, phase)
    assert holder.stdout.readline().strip()
    assert books.reserve(limit=0.7) is None, "the holder lives"
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    if held:
        with pytest.raises(DoesNotFit, match=r"0.60 held, 0.40 left"):
            books.reserve(limit=0.7)
    else:
        assert books.reserve(limit=0.7) is not None
    assert books.figures()[:2] == (0.0, held)


def test_a_process_that_took_over_a_number_is_not_the_owner(books: Books) -> None:
    books.begin(1.0)
    books.started(limit=0.6)
    text = books.path.read_text(encoding="utf-8")
    assert f'"{os.getpid()}:' in text
    books.path.write_text(text.replace(f'"{os.getpid()}:', f'"{os.getpid()}:1'))
    with pytest.raises(DoesNotFit):
        Books(books.path, books.job).reserve(limit=0.6)


_ON_A_FULL_DISK = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (900, 900))
for number in range(100):
    try:
        ledger.start(reserve(0.01))
    except Exception as exc:
        print(number, type(exc).__name__, exc)
        break
"""


def test_on_a_full_disk_no_agent_is_started(books: Books, start: Any) -> None:
    books.begin(1.0)
    output, _ = start(_ON_A_FULL_DISK).communicate(timeout=PATIENCE_SECONDS)
    number, _, words = output.partition(" ")
    assert words.startswith("RunStoreError ")
    assert "the budget cannot be kept: File too large; no agent is started" in words
    assert books.path.read_bytes().endswith(b"}\n")
    # Each that was started is in the books; the process has ended, so it is held.
    started = int(number)
    assert books.figures() == (0.0, to_usd(started * to_nano(0.01)), started)
    books.spend(0.5, limit=0.5)


# -- the file ----------------------------------------------------------------------


@pytest.mark.parametrize("cut", [1, 20, 1000])
def test_a_line_that_was_cut_off_never_happened(books: Books, cut: int) -> None:
    books.begin(1.0)
    books.spend(0.25)
    whole = books.path.read_bytes()
    books.reserve(limit=0.5)
    content = books.path.read_bytes()
    books.path.write_bytes(content[: max(len(whole), len(content) - cut)])
    other = Books(books.path, books.job)
    assert other.figures() == (0.25, 0.0, 0)
    other.spend(0.25)
    assert other.figures() == (0.5, 0.0, 0)


@pytest.mark.parametrize(
    "line", ["{}", "not json", '{"event": "gift", "at": "2026-01-01T00:00:00Z"}', ""]
)
def test_a_line_that_is_no_entry_is_said(books: Books, line: str) -> None:
    books.begin(1.0)
    with books.path.open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")
    with pytest.raises(RunStoreError) as caught:
        Ledger(books.path).budget()
    assert "budget.jsonl: line 2 is no entry of a budget: " in str(caught.value)
    assert "restore the file, or begin a new run" in str(caught.value)


def test_without_a_ledger_no_agent_is_started(books: Books) -> None:
    books.begin(1.0)
    lost = Ledger(books.path.parent / "gone" / "budget.jsonl")
    with pytest.raises(RunStoreError, match="the budget cannot be kept: No such file"):
        lost.reserve(books.job, limit_usd=0.1, past_usd=(), workers=1)


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (0, "0.00"),
        (0.5, "0.50"),
        (12, "12.00"),
        (0.0125, "0.0125"),
        (1.2345678, "1.2346"),
    ],
)
def test_dollars_are_written_to_the_cent_or_its_hundredth(
    amount: float, text: str
) -> None:
    assert dollars(amount) == text
