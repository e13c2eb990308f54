"""Made outputs of test runs, and what SWE-bench's own harness says of each.

``python tests/support_swebench.py`` writes ``tests/data/datasets/swebench_*.gz``: run
it where SWE-bench is installed (``pip install swebench==5.0.2``). The tests read
what it wrote, and make more where SWE-bench can be imported: it may be installed in
the directory that ``CODEGENIE_TEST_SWEBENCH`` names, as it takes more than we do.
"""

from __future__ import annotations

import contextlib
import gzip
import importlib
import json
import os
import random
import sys
import tempfile
import types
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
#: Of SWE-bench Multimodal: our names to SWE-bench's, with the version of a row.
JAVASCRIPT_PARSERS = {
    "bpmn-js": ("parse_log_bpmn_js", ""),
    "calypso": ("parse_log_calypso", ""),
    "carbon": ("parse_log_carbon", ""),
    "chart-js": ("parse_log_chart_js", ""),
    "eslint": ("parse_log_eslint", ""),
    "grommet": ("parse_log_grommet", ""),
    "highlightjs": ("parse_log_highlightjs", ""),
    "lighthouse-json": ("parse_log_lighthouse", "2.9"),
    "lighthouse-mocha": ("parse_log_lighthouse", "10.0"),
    "marked": ("parse_log_marked", ""),
    "next-v1": ("parse_log_next", "1.26"),
    "next-v2": ("parse_log_next", "1.27"),
    "openlayers": ("parse_log_openlayers", ""),
    "p5js": ("parse_log_p5js", ""),
    "parse_log_react_pdf": ("parse_log_react_pdf", ""),
    "prismjs": ("parse_log_prismjs", ""),
    "quarto-cli": ("parse_log_quarto_cli", ""),
}
#: Of these SWE-bench reads failures alone.
FAIL_ONLY_PARSERS = (
    "parse_log_bpmn_js",
    "parse_log_chart_js",
    "parse_log_eslint",
    "parse_log_marked",
    "parse_log_openlayers",
    "parse_log_p5js",
)
_PRISM = "+ ./node_modules/.bin/mocha tests/run.js --reporter json"
_PRISM_TESTS = '{"fullTitle": "a b"}, {"fullTitle": "c"}'
#: What these read, of which each line may come after any other.
_JAVASCRIPT_LINES = [
    *"""\
2KPhantomJS 2.1.1 (Linux 0.0.0) a - b FAILED
2KPhantomJS 2.1.1 (Linux x86_64) a - c FAILED
Chrome Headless 90.0 (Linux x86_64) d FAILED
Chrome Headless 90.0 (Linux x86_64) e (Linux x86_64) f FAILED
HeadlessChrome 0.0.0 (Linux 0.0.0) g  h FAILED
\x1b[31mChrome 99.0 (Linux x86_64) i j FAILED\x1b[39m
Chrome 99.0 (Linux) k (m) FAILED
Chrome 99.0 (Linux x86_64): Executed 3 of 5 (1 FAILED) (2 secs / 1 secs)
Chrome 99.0 (Linux x86_64) n: FAILED to load
Executed 0 of 0 ERROR
TOTAL: 3 SUCCESS
3 passing (4ms)
007 passing
4 specs, 0 failures
0 specs, 0 failures
rendering 'case': ok
case polygon: mismatch
case a: b: mismatch (0.2)
  1) Suite a
  2) Suite b test:
       deep:
     deeper:
      deepest
    3) deep one
4) top one (12ms)
10) Suite  x: y
  5) first Error: no
  6) firstError and Error
  7) a b: TypeError: no
AssertionError [ERR]: no Error here
    Error: expected 1
{
}
[
]
{ a: 1 }
[ 1 ]
foo = {
<div>
</div>
<p>gone</p>
<div><div>x</div>
PASS src/a.js
PASS src/b.js (12ms)
PASS src/c.js (1.5 s)
PASS src/d.js (1.5s) (3 ms)
FAIL src/a.js (2s)
FAIL src/e f.js
FAIL
+ ./node_modules/.bin/jest -c=a.json
+ ./node_modules/.bin/mocha --reporter json a.js
+ xvfb-run -a npm test
Starting browser Chrome
  ● Suite
Test Suites: 1 passed, 1 total
Tests:       2 passed
  suite
    inner
      ✓ a b (5ms)
      ✓ c
    ✕ d (5ms)
      ✕ e (5ms) f
  ✔ g (12ms)
    ✔ h
✗ top
      ✗ i
      ✓  j
      ERROR no
      LOG: x
TOTAL
AssertionError:   #a
running 5 test files
  11 passing (2s)
  "passes": [
      "fullTitle": "t u",
      "fullTitle": "v"
    {
  ],
  "failures": [
  }
Running:  a.js  (1 of 2)


  Suite of one
Running:  b.js  (2 of 2)


  Suite of two
    ✓ k (12ms)
    ✓ m
[smoke] > a.qmd ... \x1b[0m\x1b[32mok\x1b[0m (1s)
[unit] > b ... \x1b[31mFAILED\x1b[39m
[smoke] > /tmp/x1.qmd ... \x1b[32mok
[smoke] > /tmp/x2.qmd /tmp/y/z ... waits
[unit] 3 passed 1 failed 2 steps
[unit] \x1b[34mINFO
ERRORS
""".splitlines(),
    '  "passes": [\n    {\n      "fullTitle": "w x",\n      "err": {}\n    }\n  ]\n}',
    '  "failures": [\n    {\n      "fullTitle": "y z",\n      "err": {}\n    }\n  ],',
    "Running:  c.js  (1 of 1)\n\n\n  Suite of three",
    f'{_PRISM}\n{{"passes": [{_PRISM_TESTS}], "failures": []}}',
    f'{_PRISM}\n{{"passes": [], "failures": [{_PRISM_TESTS}], "x": {{}}}}\nend',
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


def made_fail_only(parser: str, number: int) -> dict[str, Any]:
    """Return a case of a parser that reads failures alone.

    Args:
        parser: SWE-bench's name of it.
        number: The same number gives the same case.
    """
    chance = random.Random(f"fail only {parser} {number}")
    ours = parser.removeprefix("parse_log_").replace("_", "-")
    output = made_javascript(ours, number)
    named = sorted(oracle_statuses(parser, output) or ())
    asked = [*named[:3], "passes", "passes too", *named[3:4]]
    if number % 5 == 1:
        # Nothing is read; whether that is good depends on what else is said.
        output = chance.choice(("3 specs, 0 failures\n", "starts\n", "12 passing\n"))
    if number % 5 == 2:
        asked = ["passes", "passes too"]
    if number % 7 == 3:
        output = output.replace("\n", "\r\n")
    return {
        "parser": parser,
        "eval_type": "fail_only",
        "output": output,
        "exit_code": chance.choice((0, 1, 1)),
        "fail_to_pass": sorted(set(chance.choices(asked, k=chance.randint(1, 3)))),
        "pass_to_pass": sorted(set(chance.choices(asked, k=chance.randint(0, 2)))),
    }


def oracle(case: dict[str, Any]) -> dict[str, Any]:
    """Return what SWE-bench says of a case: valid, which count as what, resolution."""
    grading = importlib.import_module("swebench.harness.grading")
    spec_type = importlib.import_module("swebench.types").TestSpec
    eval_types = importlib.import_module("swebench.harness.constants").EvalType
    asked = {
        "FAIL_TO_PASS": case["fail_to_pass"],
        "PASS_TO_PASS": case["pass_to_pass"],
    }
    spec = spec_type(
        instance_id="made",
        image="",
        eval_script_list=[],
        repo="",
        version="",
        log_parser=case["parser"],
        eval_type=case.get("eval_type", "pass_and_fail"),
        **asked,
    )
    log = (
        "+ : '>>>>> Start Test Output'\n"
        f"{case['output']}"
        "+ SWEBENCH_TEST_EXIT_CODE=0\n+ : '>>>>> End Test Output'\n"
        f">>>>> Test Exit Code: {case['exit_code']}\n"
    )
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", newline="", suffix=".txt"
    ) as file:
        file.write(log)
        file.flush()
        statuses, valid = grading.get_logs_eval(spec, file.name)
    report = grading.get_eval_tests_report(
        statuses, asked, eval_type=eval_types(spec.eval_type)
    )
    resolution = grading.get_resolution_status(report) if valid else "INVALID"
    # Of a log that it does not believe it makes no report.
    counts = {key: sorted(report[key]["success"]) if valid else [] for key in asked}
    return {"valid": valid, "success": counts, "resolution": resolution}


def made_output(parser: str, number: int) -> str:
    """Return lines of many runners, so that each has to be told from the others."""
    chance = random.Random(f"{parser} {number}")
    lines = [
        f"{chance.choice(('', '', '  '))}{chance.choice(_OTHER_LINES)}"
        for _ in range(chance.randint(4, 20))
    ]
    return "\n".join(lines) + "\n"


def made_javascript(parser: str, number: int) -> str:
    """Return lines of JavaScript's runners."""
    chance = random.Random(f"{parser} {number}")
    # What these read has a heading, without which it is nothing.
    starts = {
        "calypso": "+ ./node_modules/.bin/jest -c=a.json",
        "lighthouse-json": "+ ./node_modules/.bin/mocha --reporter json a.js",
        "lighthouse-mocha": "running 5 test files",
        "next-v1": "+ xvfb-run -a npm test\nStarting browser Chrome",
        "next-v2": _JAVASCRIPT_LINES[-3],
    }
    lines = [starts[parser]] if parser in starts else []
    pool = _JAVASCRIPT_LINES
    if number % 2:  # Fewer runners, so that the lines of one more often belong.
        pool = chance.sample(pool, 12)
    lines += chance.choices(pool, k=chance.randint(4, 24))
    return "\n".join(lines) + "\n"


def oracle_statuses(
    parser: str, output: str, version: str = ""
) -> dict[str, str] | None:
    """Return what SWE-bench reads out of an output; None where its parser fails."""
    parsers = importlib.import_module("swebench.harness.log_parsers").PARSER_REGISTRY
    spec = types.SimpleNamespace(version=version)
    try:
        with contextlib.redirect_stdout(None):  # one of them prints
            return dict(parsers[parser](output, spec))
    except (AttributeError, IndexError, KeyError, SyntaxError, ValueError):
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
    cases += [
        made_fail_only(parser, n) for parser in FAIL_ONLY_PARSERS for n in range(COUNT)
    ]
    _write(VERDICTS, [{**case, "oracle": oracle(case)} for case in cases])
    rows = []
    for parser in OTHER_PARSERS:
        for output in (made_output(parser, number) for number in range(COUNT)):
            statuses = oracle_statuses(parser, output)
            if statuses is not None:
                rows.append({"parser": parser, "output": output, "statuses": statuses})
    for ours, (parser, version) in JAVASCRIPT_PARSERS.items():
        for output in (made_javascript(ours, number) for number in range(COUNT)):
            statuses = oracle_statuses(parser, output, version)
            if statuses is not None:
                rows.append({"parser": ours, "output": output, "statuses": statuses})
    _write(STATUSES, rows)


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(data, mtime=0))


if __name__ == "__main__":
    _record()
