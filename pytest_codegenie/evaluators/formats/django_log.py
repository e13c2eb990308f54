"""What Django's test runner prints with ``--verbosity 2``, as SWE-bench reads it."""

from __future__ import annotations

import re
from collections.abc import Iterator


#: How a line may end, to the word for it.
_ENDS = {
    " ... ok": "PASSED",
    " ... OK": "PASSED",
    " ...  OK": "PASSED",
    " ... FAIL": "FAILED",
    " ... ERROR": "ERROR",
}
#: The heading of what a test that failed has to say.
_HEADINGS = {"FAIL:": "FAILED", "ERROR:": "ERROR"}
#: Progress of a migration that runs into the name of the test that it is about.
_MIGRATION = "Applying sites.0002_alter_domain_unique...test_no_migrations"
#: The id of a test whose docstring has several lines.
_IN_FULL = "--version is equivalent to version"
#: Tests near the end, whose names are parted from their results by these messages.
_PARTED = (
    re.compile(
        r"^(.*?)\s\.\.\.\sTesting against Django installed in (?s:.*?) silenced\)\."
        r"\nok$",
        re.M,
    ),
    re.compile(r"^(.*?)\s\.\.\.\sInternal Server Error: /.*/\nok$", re.M),
    re.compile(
        r"^(.*?)\s\.\.\.\sSystem check identified no issues \(0 silenced\)\nok$", re.M
    ),
)


def django(text: str) -> Iterator[tuple[str, str]]:
    """Yield (id, word); an id is what stands before `` ... ``.

    That is ``test_x (app.tests.Case)``, since Python 3.11 ``test_x
    (app.tests.Case.test_x)``, or the first line of the docstring where there is one.
    What a test prints may part it from its result: ``ok`` then begins a line.
    """
    begun = None
    for printed in text.split("\n"):
        line = printed.strip()
        if _IN_FULL in line:
            yield _IN_FULL, "PASSED"
        if " ... " in line:
            begun = line.split(" ... ")[0]
        yield from _of_line(line)
        if line.startswith("ok") and begun is not None:
            yield begun, "PASSED"
    for pattern in _PARTED:
        for found in pattern.finditer(text):
            yield found[1], "PASSED"


def _of_line(line: str) -> Iterator[tuple[str, str]]:
    """Yield what one line says by itself."""
    for end, word in _ENDS.items():
        if line.endswith(end):
            name = line.removesuffix(end)
            if word == "PASSED" and line.startswith(_MIGRATION):
                name = name.partition("...")[2].strip()
            yield name if word == "PASSED" else line.split(end)[0], word
    if " ... skipped" in line:
        yield line.split(" ... skipped")[0], "SKIPPED"
    for heading, word in _HEADINGS.items():
        if line.startswith(heading) and len(line.split()) > 1:
            yield line.split()[1], word
