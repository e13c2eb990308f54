"""Made outputs of test runs, and what SWE-bench's own harness says of each.

``python tests/support_swebench.py`` writes ``tests/data/datasets/swebench_*.gz``: run
it where SWE-bench is installed (``pip install swebench==5.0.2``). The tests read
what it wrote, and make more where SWE-bench can be imported: it may be installed in
the directory that ``CODEGENIE_TEST_SWEBENCH`` names, as it takes more than we do.
"""

from __future__ import annotations

import gzip
import importlib
import json
import os
import random
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import pytest


sys.path += filter(None, [os.environ.get("CODEGENIE_TEST_SWEBENCH")])

DATA = Path(__file__).parent / "data" / "datasets"
VERDICTS = DATA / "swebench_verdicts.jsonl.gz"
STATUSES = DATA / "swebench_statuses.jsonl.gz"
#: Cases for each parser in the file.
COUNT = 60
PARSERS = (
    "parse_log_pytest",
    "parse_log_pytest_options",
    "parse_log_pytest_v2",
    "parse_log_django",
    "parse_log_seaborn",
    "parse_log_sympy",
    "parse_log_matplotlib",
)
#: Of SWE-bench Multilingual.
OTHER_PARSERS = (
    "parse_log_ant",
    "parse_log_cargo",
    "parse_log_cucumber",
    "parse_log_doctest",
    "parse_log_googletest",
    "parse_log_gotest",
    "parse_log_gradle_custom",
    "parse_log_jest",
    "parse_log_jest_json",
    "parse_log_jq",
    "parse_log_karma",
    "parse_log_maven",
    "parse_log_micropython_test",
    "parse_log_minitest",
    "parse_log_phpunit",
    "parse_log_redis",
    "parse_log_rspec_transformed_json",
    "parse_log_ruby_unit",
    "parse_log_tap",
    "parse_log_vitest",
)
#: What they read, one after the other.
_OTHER_LINES = """\
--- PASS: TestX (0.00s)
    --- FAIL: TestX/a b (0.1s)
--- SKIP: T (x)
test a::b ... ok
test a ... FAILED
test b ... ignored
test c - should panic ... ok
[ok]: GET works (12 ms)
[err]: SET in tests/unit/a.tcl
[err]: x in y in z (3ms)
[skip]: no
[ignore]: i
PASS: tests/a
FAIL: tests/b c
pass  a.py
FAIL  b.py
skip  c.py
[       OK ] A.b (0 ms)
[  FAILED  ] A.c (1 ms)
x [ OK ] A.d (2)
TestA#test_b = 0.01 s = .
A::B. C = 1 F
T. x=E foo
Feature: a ...... .
a .....F
test: it works:\t.: (0.1)
it fails:  F
om: O
em: Err
a - passed
b c - failed x
d - pending
 ✔ Adds
 ✘ Fails
↩ Skipped
Suite Name (Ns\\Suite)
Other (x)
+ mvn -Dtest=A#b test
./mvnw -Dtest=C x
[INFO] BUILD SUCCESS
[INFO] BUILD FAILURE
 [junit] [PASS] a.b
 [junit] [ERR] c
 [junit] [FAIL] d
a.B > c PASSED
a.B > d
PASSED
FAILED
> x PASSED
✓ does (12 ms)
✕ fails
○ skipped x
✓ a 12ms
\xd7 b
↓ c [skipped]
ok 1 adds
not ok 2 subs
ok 3
[PASSED] s t
[FAILED] u
Starting browser Chrome
SUMMARY:
  suite
    inner
    ✔ a
      ✖ b
Adds. = 0.01 s = .
""".splitlines()
_OTHER_LINES += [
    '<doctest><TestCase name="t"><SubCase name="s">\n'
    f'<Expression success="{word}"/></SubCase></TestCase></doctest>'
    for word in ("true", "false")
]
_WORDS = ("PASSED", "PASSED", "PASSED", "FAILED", "ERROR", "SKIPPED", "XFAIL")
_NODES = (
    "t/test_a.py::test_x",
    "t/test_a.py::test_y",
    "t/test_a.py::TestB::test_z",
    "t/test_a.py::test_p[1-2]",
    "t/test_a.py::test_p[1-3]",
    "t/test_a.py::test_p[a b]",
    "t/test_a.py::test_p[a c]",
    "t/test_a.py::test_q[/usr/lib/x.so]",
    "t/test_a.py::test_q[//host/x]",
    "t/test_a.py::test_q[MouseButton.LEFT]",
    "t/test_a.py::test_r[[1]]",
)
#: As datasets have them: whole, cut off, of progress, of nobody.
_ASKED_NODES = (
    *_NODES,
    "t/test_a.py::test_p[1",
    "t/test_a.py::test_p[a",
    "t/test_a.py::test_p[",
    "t/test_a.py::test_q[/x.so]",
    "t/test_a.py::test_q[1]",
    "t/test_a.py::test_r[[1]",
    "t/test_a.py::test_gone",
    "[100%]",
)
_METHODS = (
    "test_x (pkg.tests.CaseA)",
    "test_y (pkg.tests.CaseA)",
    "test_z (pkg.tests.CaseA.test_z)",
    "The first line of a docstring.",
    "--version is equivalent to version",
)
_SYMPY = ("test_x", "test_y", "test_z", "a/tests/test_b.py:test_x")
_NOISE = (
    "",
    "============ short test summary info ============",
    "SKIPPED [2] t/test_a.py:3: why",
    "PASSED                                   [100%]",
    "t/test_a.py .FsX                         [ 40%]",
    "ok",
    "E   assert 1 == 2",
    "FAILED (failures=1)",
    "System check identified no issues (0 silenced)",
    "___ a/tests/test_b.py:test_y ___",
    "Tests: 3 passed",
)


def require_swebench() -> None:
    """Skip the test where SWE-bench's own harness cannot be imported."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what it imports uses what is deprecated
        pytest.importorskip(
            "swebench.harness.infra_failure",
            reason="needs SWE-bench's own harness: pip install swebench==5.0.2",
        )


def made_case(parser: str, number: int) -> dict[str, Any]:
    """Return an output, an exit code, and tests that are asked for.

    Args:
        parser: SWE-bench's name of it.
        number: The same number gives the same case.
    """
    chance = random.Random(f"{parser} {number}")
    names: tuple[str, ...] = _NODES
    asked: tuple[str, ...] = _ASKED_NODES
    if parser == "parse_log_django":
        names, asked = _METHODS, (*_METHODS, "test_gone (pkg.tests.CaseA)")
    elif parser == "parse_log_sympy":
        names, asked = _SYMPY, (*_SYMPY, "test_gone")
    # Most runs are mostly good: else nothing would ever be resolved.
    good = number % 4 != 0
    words = ("PASSED", "PASSED", "PASSED", "SKIPPED", "XFAIL") if good else _WORDS
    codes = (0, 0, 0, 0, 1) if good else (0, 1, 1, 2, 3, 139)
    if number % 3:
        asked = names = tuple(chance.sample(names, 3))
    lines = []
    for _ in range(chance.randint(0 if number % 10 == 9 else 8, 16)):
        if chance.random() < 0.25:
            lines.append(chance.choice(_NOISE))
        else:
            name, word = chance.choice(names), chance.choice(words)
            lines.append(_line(parser, name, word, chance))
    if number % 20 == 7:
        lines.append(">>>>> Tests Errored")
    if number % 20 == 17:
        lines.insert(len(lines) // 2, ">>>>> End Test Output")
    return {
        "parser": parser,
        "output": "\n".join(lines) + "\n",
        "exit_code": chance.choice(codes),
        "fail_to_pass": sorted(set(chance.choices(asked, k=chance.randint(1, 2)))),
        "pass_to_pass": sorted(set(chance.choices(asked, k=chance.randint(0, 3)))),
    }


def _line(parser: str, name: str, word: str, chance: random.Random) -> str:
    """Return a line that says how a test went."""
    if parser == "parse_log_django":
        said = {"PASSED": "ok", "FAILED": "FAIL", "SKIPPED": "skipped 'why'"}
        parted = chance.choice(("", "", "", "Warning: old\n"))
        return f"{name} ... {parted}{said.get(word, word)}"
    if parser == "parse_log_sympy":
        said = {"PASSED": "ok", "FAILED": "F", "ERROR": "E", "SKIPPED": "s"}
        return f"{name} {said.get(word, 'f')}"
    if chance.random() < 0.2:
        return f"{name} {word}" + chance.choice(("", " [ 10%]"))
    colour = ("\x1b[32m", "\x1b[0m") if chance.random() < 0.1 else ("", "")
    why = chance.choice(("", " - AssertionError: a - b", " - why"))
    return f"{colour[0]}{word}{colour[1]} {name}{why if word != 'PASSED' else ''}"


def oracle(case: dict[str, Any]) -> dict[str, Any]:
    """Return what SWE-bench says of a case: valid, which count as what, resolution."""
    grading = importlib.import_module("swebench.harness.grading")
    types = importlib.import_module("swebench.types")
    asked = {
        "FAIL_TO_PASS": case["fail_to_pass"],
        "PASS_TO_PASS": case["pass_to_pass"],
    }
    spec = types.TestSpec(
        instance_id="made",
        image="",
        eval_script_list=[],
        repo="",
        version="",
        log_parser=case["parser"],
        eval_type="pass_and_fail",
        **asked,
    )
    log = (
        "+ : '>>>>> Start Test Output'\n"
        f"{case['output']}"
        "+ SWEBENCH_TEST_EXIT_CODE=0\n+ : '>>>>> End Test Output'\n"
        f">>>>> Test Exit Code: {case['exit_code']}\n"
    )
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".txt") as file:
        file.write(log)
        file.flush()
        statuses, valid = grading.get_logs_eval(spec, file.name)
    report = grading.get_eval_tests_report(statuses, asked)
    resolution = grading.get_resolution_status(report) if valid else "INVALID"
    counts = {key: sorted(report[key]["success"]) for key in asked}
    return {"valid": valid, "success": counts, "resolution": resolution}


def made_output(parser: str, number: int) -> str:
    """Return lines of many runners, so that each has to be told from the others."""
    chance = random.Random(f"{parser} {number}")
    lines = [
        f"{chance.choice(('', '', '  '))}{chance.choice(_OTHER_LINES)}"
        for _ in range(chance.randint(4, 20))
    ]
    return "\n".join(lines) + "\n"


def oracle_statuses(parser: str, output: str) -> dict[str, str] | None:
    """Return what SWE-bench reads out of an output; None where its parser fails."""
    parsers = importlib.import_module("swebench.harness.log_parsers").PARSER_REGISTRY
    try:
        return dict(parsers[parser](output, None))
    except (IndexError, SyntaxError):
        return None


def recorded_statuses() -> list[dict[str, Any]]:
    """Return outputs with what SWE-bench 5.0.2 reads out of each."""
    with gzip.open(STATUSES, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def recorded() -> list[dict[str, Any]]:
    """Return the cases of the file, with what SWE-bench 5.0.2 says of each."""
    with gzip.open(VERDICTS, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def _record() -> None:
    cases = [made_case(parser, n) for parser in PARSERS for n in range(COUNT)]
    _write(VERDICTS, [{**case, "oracle": oracle(case)} for case in cases])
    rows = []
    for parser in OTHER_PARSERS:
        for output in (made_output(parser, number) for number in range(COUNT)):
            statuses = oracle_statuses(parser, output)
            if statuses is not None:
                rows.append({"parser": parser, "output": output, "statuses": statuses})
    _write(STATUSES, rows)


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(data, mtime=0))


if __name__ == "__main__":
    _record()
