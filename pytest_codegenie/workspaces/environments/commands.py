"""Running the commands that build an environment, and what is said when one fails."""

from __future__ import annotations

import shlex
import shutil
import time
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path
from typing import Protocol

from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.processes import Completed
from pytest_codegenie.processes import Limits
from pytest_codegenie.processes import NotStarted


_LINES_SHOWN = 20


class SetupRun(Protocol):
    """Runs a command of the phase ``setup``, as a workspace does that."""

    def __call__(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        readable: Sequence[Path],
        writable: Sequence[Path],
        limits: Limits,
        log_path: Path | None,
    ) -> Completed:
        """Run it to its end.

        Args:
            argv: The program and its arguments.
            cwd: Its working directory; it can be read.
            env: Its whole environment.
            readable: What of the host it has to see, by the same path, where the
                workspace hides the user's own directories.
            writable: Directories of the host that it may write to; all others are
                read-only where the workspace isolates.
            limits: Of time and output.
            log_path: Gets its output while it runs.

        Raises:
            NotStarted: There is no such program, or it may not be executed.
            WorkspaceUnavailable: The place itself broke.
        """
        ...


@dataclass(frozen=True, slots=True)
class CommandLine:
    """The commands of one build: one place, one clock, one log."""

    run: SetupRun
    #: The whole environment of each command.
    env: Mapping[str, str]
    #: Names in ``env`` that are the user's own: no message shows their values.
    private: frozenset[str]
    readable: Sequence[Path]
    writable: Sequence[Path]
    log_path: Path
    #: Where the log goes when the build fails.
    failed_log_path: Path
    #: For all commands together.
    timeout_seconds: float
    started: float = field(default_factory=time.monotonic)

    def __call__(
        self, argv: Sequence[str], cwd: Path, *, may_fail: bool = False
    ) -> Completed:
        """Run a command.

        Raises:
            WorkspaceUnavailable: It failed, and may not; or the time is over.
        """
        with self.log_path.open("ab") as log:
            log.write(f"$ {shlex.join(argv)}\n".encode(errors="replace"))
            begin = log.tell()
        left = self.timeout_seconds - (time.monotonic() - self.started)
        try:
            completed = self.run(
                argv,
                cwd=cwd,
                env=self.env,
                readable=self.readable,
                writable=self.writable,
                limits=Limits(timeout_seconds=max(left, 0.01)),
                log_path=self.log_path,
            )
        except NotStarted as exc:
            raise self._failure(argv, cwd, begin, str(exc)) from exc
        words = self._fault(completed)
        if words and (completed.timed_out or not may_fail):
            raise self._failure(argv, cwd, begin, words)
        return completed

    def _fault(self, completed: Completed) -> str:
        if completed.timed_out:
            return (
                f"did not end within {self.timeout_seconds:g} seconds, the time for "
                "building an environment (the setting 'setup_timeout')"
            )
        if completed.exceeded:
            return f"was ended, as it used {completed.exceeded} (the setting 'limits')"
        if completed.exit_code < 0:
            return f"was ended by signal {-completed.exit_code}"
        if completed.exit_code:
            return f"ended with exit code {completed.exit_code}"
        return ""

    def _failure(
        self, argv: Sequence[str], cwd: Path, begin: int, words: str
    ) -> WorkspaceUnavailable:
        output = self.log_path.read_bytes()[begin:].decode(errors="replace")
        tail = [f"  {line}" for line in output.splitlines()[-_LINES_SHOWN:]]
        return WorkspaceUnavailable(
            "\n".join(
                [
                    f"the environment cannot be built: {shown(argv)} {words}",
                    *tail,
                    f"all of its output: {self._keep_log()}",
                    f"to repeat it: {self._line(argv, cwd)}",
                ]
            )
        )

    def _keep_log(self) -> Path:
        """Copy the log to where the next try leaves it alone; return where it is."""
        try:
            self.failed_log_path.parent.mkdir(exist_ok=True)
            shutil.copyfile(self.log_path, self.failed_log_path)
        except OSError:
            return self.log_path
        return self.failed_log_path

    def _line(self, argv: Sequence[str], cwd: Path) -> str:
        """Return the command as a shell line, without the user's own variables."""
        own = [
            f"{name}={shlex.quote(value)}"
            for name, value in sorted(self.env.items())
            if name not in self.private
        ]
        return f"cd {shlex.quote(str(cwd))} && {' '.join(own)} {shlex.join(argv)}"


def shown(argv: Sequence[str]) -> str:
    """Return a command as a message names it."""
    if argv[:2] == ["/bin/sh", "-c"]:
        return f"`{argv[2]}`"
    return f"`{shlex.join([Path(argv[0]).name, *argv[1:]])}`"
