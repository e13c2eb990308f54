"""What Django's test runner prints with ``--verbosity 2``, as SWE-bench reads it."""

from __future__ import annotations

import re
from collections.abc import Iterator


_WORDS = {
    "ok": "PASSED",
    "OK": "PASSED",
    "FAIL": "FAILED",
    "ERROR": "ERROR",
}
_RESULT = re.compile(r"(.+?) \.\.\. +(ok|OK|FAIL|ERROR|skipped\b.*)")
_BEGUN = re.compile(r"(\S.*?) \.\.\. .+")
#: A migration's progress runs into the name of the test that it is about.
_MIGRATION = re.compile(r"Applying \S+\.\.\.")


def django(text: str) -> Iterator[tuple[str, str]]:
    """Yield (id, word); an id is what stands before `` ... ``.

    That is ``test_x (app.tests.Case)``, since Python 3.11 ``test_x
    (app.tests.Case.test_x)``, or the first line of the docstring where there is one.
    What a test prints may part it from its result: ``ok`` then stands alone.
    """
    begun = ""
    for printed in text.split("\n"):
        line = _MIGRATION.sub("", printed.strip())
        if result := _RESULT.fullmatch(line):
            yield result[1], _WORDS.get(result[2], "SKIPPED")
            begun = ""
        elif line.startswith(("FAIL: ", "ERROR: ")):
            kind, name = line.split()[:2]
            yield name, _WORDS[kind.rstrip(":")]
        elif line == "ok" and begun:
            yield begun, "PASSED"
            begun = ""
        elif start := _BEGUN.fullmatch(line):
            begun = start[1]
