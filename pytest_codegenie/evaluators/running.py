"""Running a test command in the workspace."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path

from pytest_codegenie.errors import EvaluatorError
from pytest_codegenie.evaluators.protocol import Judgement
from pytest_codegenie.evaluators.protocol import Site
from pytest_codegenie.processes import Completed
from pytest_codegenie.processes import Limits
from pytest_codegenie.processes import NotStarted


def run_tests(
    argv: Sequence[str],
    judgement: Judgement,
    site: Site,
    env: Mapping[str, str] | None = None,
    *,
    keep_bytes: int = 1 << 18,
) -> Completed:
    """Run a test command in the tree.

    Args:
        argv: The command.
        judgement: Its time limit and its log.
        site: Where it runs.
        env: Added to the variables of a test run.
        keep_bytes: Of each stream this much is kept from the start and from the end.

    Raises:
        EvaluatorError: It cannot be started.
    """
    limits = Limits(
        timeout_seconds=judgement.timeout_seconds,
        grace_seconds=1.0,
        keep_bytes=keep_bytes,
    )
    try:
        return site.exec(
            argv,
            phase="judge",
            env=site.variables("judge") | dict(env or {}),
            limits=limits,
            log_path=judgement.log_path,
        )
    except NotStarted as exc:
        raise EvaluatorError(f"the tests cannot be run: {exc}") from exc


def tail(completed: Completed) -> str:
    """Return the end of what a run that failed has to say."""
    output = completed.stderr or completed.stdout
    return output.decode(errors="replace").strip()[-2000:]


def stamps(tree: Path, files: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """Return what no program can set back once it has written to a file."""
    found: dict[str, tuple[int, ...]] = {}
    for name in files:
        try:
            status = (tree / name).stat()
        except OSError:
            found[name] = ()
        else:
            found[name] = (status.st_ino, status.st_size, status.st_ctime_ns)
    return found
