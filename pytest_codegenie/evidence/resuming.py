"""Going on with a run: how it is named, and whether it would be the same run.

What a run is made of is in its record from the start. A session that goes on with it
makes the record that a new run would have now, and both are compared.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_codegenie.config import RunConfig
from pytest_codegenie.errors import RunStoreError
from pytest_codegenie.evidence.budget.ledger import LEDGER
from pytest_codegenie.evidence.lines import whole_lines
from pytest_codegenie.evidence.run_lock import SESSION_LOCK
from pytest_codegenie.evidence.run_lock import WORKERS_LOCK
from pytest_codegenie.evidence.store import RESULTS
from pytest_codegenie.evidence.store import RUN
from pytest_codegenie.evidence.store import read_run_record
from pytest_codegenie.models import RunRecord


OPTION = "--codegenie-resume"
#: Names the run that began last.
LATEST = "latest"
#: Settings that change no verdict: which of the run's items are looked at now, how
#: many at a time, who hears of it, what is kept, and what the session's exit code says.
NOT_COMPARED = frozenset(
    (
        *("cases", "datasets", "limit", "workers"),
        *("log_level", "reporters", "secrets"),
        *("cache", "keep", "max_cost_usd", "out", "run_id"),
        *("baseline", "fail_on_regression", "require_lower_bound"),
        # The workspace that was chosen is compared.
        *("docker.cleanup", "docker.enabled"),
    )
)
#: Of a value that is longer, this much is shown.
_SHOWN_CHARACTERS = 100
_NOTHING = "nothing"
#: What may be in a run's directory before its first result.
_BEFORE_RESULTS = (RUN, RESULTS, SESSION_LOCK, WORKERS_LOCK, LEDGER, "log.jsonl")


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that a run is made of, and that is not so now."""

    #: ``trials``, ``agents.<label>.options.model``, ``versions.agent <label>``, ...
    key: str
    #: As JSON; ``nothing`` for what is not there.
    recorded: str
    present: str

    def __str__(self) -> str:
        return f"{self.key}: recorded {self.recorded}, now {self.present}"


def differences(recorded: RunRecord, present: RunRecord) -> Iterator[Difference]:
    """Yield what is not the same in what two runs are asked to do, and by whom.

    The corpus is not looked at: what it is now, a new record does not know yet.

    Args:
        recorded: Of the run that is gone on with.
        present: As a new run with the present configuration would begin.
    """
    then, now = _config(recorded), _config(present)
    for key in RunConfig.model_fields:
        if key == "agents":
            yield from _differ(key, _by_label(then.get(key)), _by_label(now.get(key)))
        else:
            yield from _differ(key, then.get(key), now.get(key))
    yield from _differ("graded_from", recorded.graded_from, present.graded_from)
    versions = _versions(recorded), _versions(present)
    yield from _differ("versions", *versions)


def _config(record: RunRecord) -> dict[str, Any]:
    """Return a configuration as JSON has it; what it does not say is a default."""
    defaults = RunConfig().model_dump(mode="json")
    config: dict[str, Any] = json.loads(json.dumps(record.config))
    return defaults | config


def _by_label(agents: Any) -> Any:
    """Return agents by their labels: their order changes nothing."""
    try:
        return {agent["label"]: agent for agent in agents}
    except (LookupError, TypeError):
        return agents


def _versions(record: RunRecord) -> dict[str, str]:
    """Return the versions of what works and what judges."""
    return {
        name: version
        for name, version in record.versions.items()
        if name == "pytest-codegenie" or name.startswith("agent ")
    }


_ABSENT = object()


def _differ(key: str, then: Any, now: Any) -> Iterator[Difference]:
    if key in NOT_COMPARED:
        return
    if isinstance(then, Mapping) and isinstance(now, Mapping):
        for name in dict.fromkeys((*then, *now)):
            inner = then.get(name, _ABSENT), now.get(name, _ABSENT)
            yield from _differ(f"{key}.{name}", *inner)
    elif then != now:
        yield Difference(key, _shown(then), _shown(now))


def _shown(value: Any) -> str:
    if value is _ABSENT or value is None:
        return _NOTHING
    if isinstance(value, Mapping) and "label" in value:
        return str(value["label"])  # a whole agent
    text = json.dumps(value, ensure_ascii=False, default=str)
    if len(text) > _SHOWN_CHARACTERS:
        text = f"{text[:_SHOWN_CHARACTERS]}..."
    return text


def begun_record(directory: Path) -> RunRecord | None:
    """Return the record of a run; None: it came to nothing before it was written.

    Raises:
        RunStoreError: It is no run, or there are results whose making is not known.
    """
    try:
        return read_run_record(directory)
    except RunStoreError:
        if _is_unbegun(directory):
            return None
        raise


def _is_unbegun(directory: Path) -> bool:
    """Say whether a run was killed, or lost its power, before it could have results."""
    if directory.parent.name != "runs" or not directory.is_dir():
        return False
    names = (path.name for path in directory.iterdir())
    return next(whole_lines(directory / RESULTS), None) is None and all(
        # Beside others one of these: what was to become the record.
        name in _BEFORE_RESULTS or name.startswith(f".{RUN}.")
        for name in names
    )


def remove_unfinished(directory: Path) -> None:
    """Remove files that a session was killed over, before they had their names.

    Args:
        directory: Of a run that no other session works on.
    """
    for name in (RUN, "report*"):
        for path in directory.glob(f".{name}.*"):
            with contextlib.suppress(OSError):
                path.unlink()


def resume_command(record: RunRecord) -> str:
    """Return the command that goes on with a run, as it is typed into a shell."""
    return shlex.join(
        ["pytest", *_without_run(record.arguments), OPTION, record.run_id]
    )


def _without_run(arguments: Sequence[str]) -> Iterator[str]:
    """Yield arguments without what names a run to go on with."""
    words = iter(join_run(arguments, OPTION))
    yield from (word for word in words if not word.startswith(f"{OPTION}="))


def join_run(arguments: Sequence[str], option: str) -> list[str]:
    """Return arguments in which an option with an optional run is one word.

    ``OPTION RUN`` becomes ``OPTION=RUN``, and ``OPTION`` alone ``OPTION=latest``. A
    parser would take whatever follows for the run, and what follows is mostly what is
    to be collected. So a path that exists is taken for that, unless a run is in it.

    Args:
        arguments: Of a command.
        option: With its dashes.
    """
    joined: list[str] = []
    words = iter(range(len(arguments)))
    for index in words:
        word = arguments[index]
        if word == "--":
            return [*joined, *arguments[index:]]
        if word == option:
            following = arguments[index + 1] if index + 1 < len(arguments) else "-"
            if _names_run(following):
                next(words)
                word = f"{option}={following}"
            else:
                word = f"{option}={LATEST}"
        joined.append(word)
    return joined


def _names_run(word: str) -> bool:
    if word.startswith("-") or not word:
        return False
    path = Path(word.partition("::")[0])
    if word == LATEST or not os.path.lexists(path):
        return True
    in_store = path.resolve().parent.name == "runs"
    return in_store or (path / RUN).exists() or (path / RESULTS).exists()
