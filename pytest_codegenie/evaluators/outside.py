"""Running tests that stay outside of the tree, in a container's own file system.

Harbor and Terminal-Bench have such: a script in ``/tests`` that looks at what the agent
left. The tree is judged as the agent left it, as their own harnesses do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from pytest_codegenie.errors import EvaluatorError
from pytest_codegenie.evaluators.protocol import Judgement
from pytest_codegenie.evaluators.protocol import ShowsDirectories
from pytest_codegenie.evaluators.protocol import Site
from pytest_codegenie.evaluators.running import run_tests
from pytest_codegenie.evaluators.running import tail
from pytest_codegenie.processes import Completed


TESTS = "/tests"
_NOT_STARTED = (126, 127)
#: What fetches something, in a test script.
_FETCHES = re.compile(
    r"(?m)^[^#\n]*\b(?:apt(?:-get)?\s+(?:-\S+\s+)*(?:update|install)|apk\s+add|curl|wget"
    r"|git\s+clone|(?:pip|pip3|uv\s+pip)\s+install|uvx|uv\s+(?:add|run|sync|tool)"
    r"|(?:npm|yarn|pnpm)\s+(?:ci|i|install|add)|npx|cargo\s+install|go\s+install)\b"
)
#: What programs say where names are not resolved.
_NO_NETWORK = re.compile(
    r"could not resolve|temporary failure (?:in name resolution|resolving)"
    r"|name or service not known|dns error|getaddrinfo|EAI_AGAIN|no such host"
    r"|failed to lookup address|network is unreachable",
    re.IGNORECASE,
)
#: As a shell says it of a line of the test script itself.
_MISSING = re.compile(
    r"(?m)^/tests/\S+: (?:line )?\d+: ([\w.-]+): (?:command )?not found$"
)
_PYTEST_ENDED = re.compile(r"\b\d+ (?:passed|failed|errors?)\b.* in \d+\.\d+s")
#: Programs that tests are run with; any other may be what was asked for.
_TOOLS = (
    *("apt", "apt-get", "curl", "git", "node", "npm", "npx", "pip", "pip3", "pytest"),
    *("python", "python3", "uv", "uvx", "wget"),
)
_REMEDY = (
    "tests are run without a network: put what they fetch into the case's image and "
    "have the script use it; codegenie verify --oracle tells which cases are all right"
)


def show_tests(judgement: Judgement, site: Site) -> ShowsDirectories:
    """Show the hidden tests as ``/tests``; return what shows more.

    Raises:
        EvaluatorError: There are none, or this is no container.
    """
    if judgement.outside is None:
        raise EvaluatorError("expected/tests is missing: the tests are in it")
    if not isinstance(site, ShowsDirectories):
        raise EvaluatorError(
            "the tests are run in a container, as /tests, and this workspace has none; "
            "use --codegenie-workspace docker"
        )
    site.show(TESTS, judgement.outside)
    return site


def run_script(
    judgement: Judgement, site: Site, default: Sequence[str], *, keep_bytes: int
) -> Completed:
    """Run the case's command, or the format's own; stdout has stderr in it.

    Raises:
        EvaluatorError: It cannot be started.
    """
    command = judgement.command or default
    argv = ["/bin/sh", "-c", command] if isinstance(command, str) else command
    return run_tests(
        ["/bin/sh", "-c", 'exec "$@" 2>&1', "sh", *argv],
        judgement,
        site,
        keep_bytes=keep_bytes,
    )


def check_start(completed: Completed) -> None:
    """See to it that a script that tells nothing could be run.

    Raises:
        EvaluatorError: It could not.
    """
    if completed.exit_code in _NOT_STARTED:
        raise EvaluatorError(
            f"the test script ended with exit code {completed.exit_code}: a program "
            f"is missing in the image, or may not be executed: {tail(completed)}"
        )


def check_tools(judgement: Judgement, completed: Completed) -> None:
    """See to it that a failure is not for want of a tool or of a network.

    Where pytest came to its end, none was wanting. What is printed may come from what
    is judged, too; so a word of the network counts where the case's own script fetches
    something, and a missing program where it is one that tests are run with.

    Raises:
        EvaluatorError: It may well be.
    """
    output = completed.stdout.decode(errors="replace")
    if _PYTEST_ENDED.search(output):
        return
    missing = [name for name in _MISSING.findall(output) if name in _TOOLS]
    if missing:
        raise EvaluatorError(
            f"the image has no {missing[0]}, which the test script needs; {_REMEDY}: "
            f"{tail(completed)}"
        )
    said = _NO_NETWORK.search(output)
    command = said and fetching(judgement.outside)
    if command:
        raise EvaluatorError(
            f"the test script fetches something ({command}), and that failed; "
            f"{_REMEDY}: {tail(completed)}"
        )


def fetching(tests: Path | None) -> str:
    """Return the first line of a script in ``tests`` that fetches; "": none does."""
    for path in sorted(tests.rglob("*.sh")) if tests else ():
        found = _FETCHES.search(path.read_text("utf-8", "replace"))
        if found:
            return found[0].strip()
    return ""
