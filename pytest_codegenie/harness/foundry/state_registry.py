"""``build_state.json``: how far the build of a project is, whatever happens to it."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pytest_codegenie.documents import write_atomically
from pytest_codegenie.errors import relative
from pytest_codegenie.harness.foundry.build_lock import BuildLock
from pytest_codegenie.harness.foundry.journal import Journal
from pytest_codegenie.harness.foundry.project import STATE
from pytest_codegenie.harness.foundry.project import WORK
from pytest_codegenie.harness.foundry.records import PROMPT_ID
from pytest_codegenie.harness.foundry.records import BuildState
from pytest_codegenie.models import utc_now


class StateRegistry:
    """Keeps which prompts are complete, tries that failed, and the total of iterations.

    Each change is written when it is made: to the journal first, then to the state, so
    that a kill at any instruction leaves the one or the other whole. Whoever changes
    anything holds the project's lock: for the block of ``locked``, or else for the
    moment of writing.

    Args:
        path: ``build_state.json``, or the project's directory.
    """

    def __init__(self, path: Path | str) -> None:
        path = Path(path)
        self.path = path / STATE if path.is_dir() else path
        self.work = self.path.parent / WORK
        self.journal = Journal(self.work / "journal.jsonl")
        #: What was wrong with what was found, one sentence each.
        self.problems: list[str] = []
        #: The state was there, cannot be read, and no journal has it.
        self.is_lost = False
        self._state: BuildState | None = None
        self._lock: BuildLock | None = None

    # -- the contract -------------------------------------------------------------

    def load(self) -> dict[str, Any]:
        """Read the state and return it; a missing file is a fresh start.

        A file that cannot be read is kept aside, ``problems`` says so, and the last
        state of the journal counts, where there is one.
        """
        self._state = self._read()
        return self._state.model_dump(mode="json")

    def save(self) -> None:
        """Write the state, durably: whoever reads it sees this one or the one before.

        Raises:
            ProjectError: Another build of the project goes on.
            OSError: It cannot be written; the state is as it was.
        """
        self.change()

    def mark_completed(self, prompt_id: str, **more: Any) -> None:
        """Take a prompt as complete; it is written.

        Args:
            prompt_id: Of the prompt.
            more: Further keys of the state that change with it.
        """
        _check_id(prompt_id)
        completed = self.state.completed
        if not self.is_completed(prompt_id):
            completed = [*completed, prompt_id]
        self.change(completed=completed, **more)

    def increment_retry(self, prompt_id: str, **more: Any) -> None:
        """Count a try of a prompt that failed; it is written.

        Args:
            prompt_id: Of the prompt.
            more: Further keys of the state that change with it.
        """
        _check_id(prompt_id)
        count = self.get_retry_count(prompt_id) + 1
        self.change(retries={**self.state.retries, prompt_id: count}, **more)

    def get_retry_count(self, prompt_id: str) -> int:
        """Return how many tries of a prompt have failed."""
        return self.state.retries.get(prompt_id, 0)

    def is_completed(self, prompt_id: str) -> bool:
        """Say whether a prompt is complete."""
        return prompt_id in self.state.completed

    def get_next_prompt(self, prompt_ids: list[str]) -> str | None:
        """Return the first of some prompts that is not complete; None: all are."""
        for prompt_id in prompt_ids:
            if not self.is_completed(prompt_id):
                return prompt_id
        return None

    # -- for the runner -----------------------------------------------------------

    @property
    def state(self) -> BuildState:
        """What is known; read when it is first asked for."""
        if self._state is None:
            self._state = self._read()
        return self._state

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the project's lock for the block.

        Raises:
            ProjectError: Another build of the project goes on.
        """
        make_work_directory(self.work)
        self._lock = BuildLock(self.work / "lock")
        try:
            yield
        finally:
            self._lock.release()
            self._lock = None

    def change(self, **values: Any) -> None:
        """Change keys of the state, all at once, and write it.

        Args:
            values: Key of ``BuildState`` to value.
        """
        if self._lock is None:
            state = self.state
            with self.locked():
                self._write(state, values)
        else:
            self._write(self.state, values)

    def start_anew(self, **values: Any) -> None:
        """Forget all that was known, and write what is known now."""
        revision = self.state.revision
        self.is_lost = False
        self._write(BuildState(revision=revision, started_at=now()), values)

    def _write(self, state: BuildState, values: dict[str, Any]) -> None:
        values["revision"] = state.revision + 1
        values.setdefault("started_at", state.started_at or now())
        new = BuildState.model_validate(state.model_dump() | values)
        self.journal.append(new)
        write_atomically(self.path, _text(new))
        self._state = new

    def _read(self) -> BuildState:
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return BuildState()
        try:
            state = BuildState.from_json(data)
        except ValidationError as exc:
            return self._recover(exc.errors()[0])
        last = self.journal.last()
        ahead = last is not None and last.revision == state.revision + 1
        if last is not None and ahead and last.started_at == state.started_at:
            # Killed between the two.
            if self._lock is not None:
                write_atomically(self.path, _text(last))
            return last
        return state  # of a file that somebody put back, the journal knows nothing

    def _recover(self, fault: Any) -> BuildState:
        place = ".".join(str(part) for part in fault["loc"])
        aside = self._keep_aside()
        last = self.journal.last()
        self.is_lost = last is None
        if last is None:
            self.path.unlink()
        else:
            # At no time there is no state, which would be a fresh start.
            write_atomically(self.path, _text(last))
        found = "the journal has none" if last is None else "the journal's last counts"
        self.problems.append(
            f"{relative(self.path)} is no state that can be read "
            f"({f'{place}: ' if place else ''}{fault['msg']}); it is kept as "
            f"{aside.name}, and {found}"
        )
        return last or BuildState()

    def _keep_aside(self) -> Path:
        date = f"{utc_now():%Y%m%dT%H%M%SZ}"
        number = 1
        while True:
            more = f"-{number}" if number > 1 else ""
            target = self.path.with_name(f"{self.path.stem}.corrupt-{date}{more}.json")
            try:
                # A link, as a rename would take the place of what is there.
                target.hardlink_to(self.path)
            except FileExistsError:
                number += 1
                continue
            return target


def make_work_directory(work: Path) -> None:
    """Make our directory of a project; the user's git leaves it alone.

    Raises:
        OSError: It cannot be made.
    """
    work.mkdir(exist_ok=True)
    ignore = work / ".gitignore"
    if not ignore.exists():
        write_atomically(ignore, "*\n", durable=False)


def _text(state: BuildState) -> str:
    return json.dumps(state.model_dump(mode="json"), indent=2) + "\n"


def _check_id(prompt_id: str) -> None:
    if not PROMPT_ID.fullmatch(prompt_id):
        raise ValueError(f"{prompt_id!r} is no prompt's id; those are P-001 and so on")


def now() -> str:
    """Return the time, as a state has it."""
    return utc_now().isoformat(timespec="seconds")
