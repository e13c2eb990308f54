"""The reports of a run that ends: files in its directory, and GitHub's step summary.

None of this may fail the run. What goes wrong is a line of the terminal summary.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping

from pytest_codegenie.errors import CodegenieError
from pytest_codegenie.errors import printable
from pytest_codegenie.evidence import StoredRun
from pytest_codegenie.parts import UnknownPartError
from pytest_codegenie.parts import make_part
from pytest_codegenie.reporters import Form
from pytest_codegenie.reporters import report_text
from pytest_codegenie.reporters import write_report
from pytest_codegenie.reporters.markdown import LEAST_BYTES
from pytest_codegenie.reporters.markdown import STEP_SUMMARY_BYTES
from pytest_codegenie.reporters.markdown import MarkdownReporter


#: Names the file that GitHub shows below a step.
STEP_SUMMARY = "GITHUB_STEP_SUMMARY"


def write_reports(
    run: StoredRun, names: Iterable[str], reporters: Mapping[str, str]
) -> Iterator[str]:
    """Write ``report.<suffix>`` by each reporter; yield what went wrong.

    Args:
        run: The run that ends.
        names: Of reporters, as the configuration has them.
        reporters: All there are, by name.
    """
    written: dict[str, str] = {}
    for name in dict.fromkeys(names):
        try:
            reporter = make_part("reporter", name, reporters)
            suffix = str(getattr(reporter, "suffix", ""))
            if suffix in written:
                yield (
                    f"reporter {name!r}: not written: report.{printable(suffix)} is "
                    f"the file of {written[suffix]!r}; name one of the two"
                )
                continue
            write_report(name, reporter, run)
            written[suffix] = name
        except (CodegenieError, UnknownPartError) as exc:
            yield str(exc)
        except Exception as exc:
            # Somebody else's class may not even be made.
            yield f"reporter {name!r}: {type(exc).__name__}: {printable(str(exc))}"


def append_step_summary(
    run: StoredRun, environment: Mapping[str, str]
) -> Iterator[str]:
    """Append a Markdown report where GitHub asks for one; yield what went wrong.

    Args:
        run: The run that ends.
        environment: The process environment.
    """
    path = environment.get(STEP_SUMMARY)
    if not path:
        return
    try:
        _append(path, run)
    except CodegenieError as exc:
        yield f"{STEP_SUMMARY}: {exc}"
    except OSError as exc:
        yield f"{STEP_SUMMARY}: {printable(path)}: {exc.strerror or exc}"


def _append(path: str, run: StoredRun) -> None:
    # Without waiting for the reader of a FIFO: the run must end.
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC
    with open(os.open(path, flags, 0o644), "ab") as file:  # noqa: PTH123 -- see above
        # Of all that the step writes.
        room = STEP_SUMMARY_BYTES - os.fstat(file.fileno()).st_size
        if room < LEAST_BYTES:
            raise OSError(0, f"is full: {room} bytes are left of what GitHub takes")
        text = report_text("markdown", MarkdownReporter(), run, Form(max_bytes=room))
        file.write(text.encode())
