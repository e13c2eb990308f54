"""Whole cases with other people's test runners: what a patch can do, and what not."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from support import Bench

from pytest_codegenie.errors import BenchCaseLoadError
from pytest_codegenie.models import CaseResult


def needs(program: str, how: str) -> pytest.MarkDecorator:
    reason = f"{program} is not installed ({how})"
    return pytest.mark.skipif(shutil.which(program) is None, reason=reason)


needs_go = needs("go", "apt-get install golang-go")
needs_cargo = needs("cargo", "apt-get install cargo")
needs_node = needs("node", "apt-get install nodejs")
needs_prove = needs("prove", "apt-get install perl")

Run = Callable[..., CaseResult]


@pytest.fixture
def run(bench: Bench) -> Run:
    """Run a case of a framework, made of files below ``input/repo`` and hidden ones."""

    def run(
        framework: str,
        script: str,
        *,
        repo: Mapping[str, str],
        hidden: Mapping[str, str],
        fixed: list[str],
        kept: list[str] | None = None,
        workspace: str = "host",
        **keys: Any,
    ) -> CaseResult:
        tests = {"framework": framework, "fail_to_pass": fixed}
        tests |= {"pass_to_pass": kept or []} | keys
        lines = (f"{key} = {json.dumps(value)}\n" for key, value in tests.items())
        files: dict[str, str | None] = {
            "input/repo": None,
            "expected/overlay": None,
            "expected/gold.patch": None,
            "expected/tests.toml": "".join(lines),
        }
        files |= {f"input/repo/{name}": text for name, text in repo.items()}
        files |= {f"expected/overlay/{name}": text for name, text in hidden.items()}
        bench.case(files=files)
        return bench.run_shell(script, workspace=workspace)

    return run


def statuses(result: CaseResult) -> dict[str, str]:
    assert result.output is not None
    assert result.output.evaluation is not None, result.message
    evaluation = result.output.evaluation
    return dict(evaluation.fail_to_pass_results | evaluation.pass_to_pass_results)


def codes(result: CaseResult) -> set[str]:
    return {mode.code for mode in result.score.failure_modes}


GO: dict[str, Any] = {
    "repo": {
        "go.mod": "module example.org/sum\n\ngo 1.19\n",
        "sum.go": "package sum\n\nfunc Add(a, b int) int { return a }\n",
        "sum_test.go": "package sum\n",
    },
    "hidden": {
        "sum_test.go": "package sum\n\nimport \"testing\"\n\n"
        "func TestAdds(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal()\n\t}\n}\n"
        "func TestKept(t *testing.T) {\n\tif Add(1, 0) != 1 {\n\t\tt.Fatal()\n\t}\n}\n",
    },
    "fixed": ["example.org/sum.TestAdds"],
    "kept": ["example.org/sum.TestKept"],
}  # fmt: skip
GO_FIX = "sed -i 's/return a/return a + b/' sum.go"


@needs_go
def test_go(run: Run) -> None:
    result = run("gotest", GO_FIX, **GO)
    assert result.outcome == "passed", result.message


@needs_go
@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("echo >> sum.go", ("failed", "passed")),
        # Tests that an agent changes, or adds, are not judged.
        (f"{GO_FIX}; echo 'package no' > sum_test.go", ("passed", "passed")),
        (f"{GO_FIX}; echo 'package no' > more_test.go", ("passed", "passed")),
        (f"{GO_FIX}; echo 'func' >> sum.go", ("missing", "missing")),
        # It ends the tests as if all were well.
        (
            "echo 'package sum; import \"os\"; func init() { os.Exit(0) }' > x.go",
            ("missing", "missing"),
        ),
        (
            'cat > x.go <<\'X\'\npackage sum\nimport "fmt"\nimport "os"\n'
            'func init() { fmt.Println("--- PASS: TestAdds (0.00s)"); '
            'fmt.Println("--- PASS: TestKept (0.00s)"); os.Exit(0) }\nX\n',
            ("error", "error"),
        ),
    ],
)
def test_go_and_what_a_patch_makes_of_it(
    run: Run, script: str, expected: tuple[str, str]
) -> None:
    result = run("gotest", script, **GO)
    assert tuple(statuses(result).values()) == expected, result.message
    assert (result.outcome == "passed") == (set(expected) == {"passed"})


@needs_go
def test_a_run_that_writes_to_its_tests_is_tampering(run: Run) -> None:
    script = (
        f"{GO_FIX}; cat > x.go <<'X'\npackage sum\nimport \"os\"\n"
        'func init() { os.WriteFile("sum_test.go", []byte("package sum"), 0644) }\nX\n'
    )
    result = run("gotest", script, **GO)
    assert "tests.tampered" in codes(result)
    assert "the test run wrote to sum_test.go" in result.message


@pytest.fixture
def cargo(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the toolchain itself on the PATH: rustup needs the user's home."""
    command = ["rustc", "--print", "sysroot"]
    root = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    monkeypatch.setenv("PATH", f"{root.strip()}/bin:{os.environ['PATH']}")


@needs_cargo
@pytest.mark.usefixtures("cargo")
def test_cargo_with_its_settings_put_back(run: Run) -> None:
    manifest = '[package]\nname = "sum"\nversion = "0.1.0"\nedition = "2021"\n'
    result = run(
        "cargo",
        "sed -i 's/ a }/ a + b }/' src/lib.rs; mkdir .cargo; "
        "printf '[build]\\nrustc = \"/bin/false\"\\n' > .cargo/config.toml; "
        "printf '[[test]]\\nname = \"adds\"\\nharness = false\\n' >> Cargo.toml; "
        "printf '[features]\\nfast = []\\n' >> Cargo.toml",
        repo={
            "Cargo.toml": manifest,
            "src/lib.rs": "pub fn add(a: i32, b: i32) -> i32 { a }\n",
        },
        hidden={
            "tests/adds.rs": "#[test]\nfn adds() { assert_eq!(sum::add(1, 2), 3); }\n"
            "#[test]\nfn is_wrong() { assert_eq!(sum::add(1, 2), 4); }\n",
        },
        fixed=["adds"],
    )
    assert result.outcome == "passed", result.message


NODE: dict[str, Any] = {
    "command": ["node", "--test", "--test-reporter=tap", "test/"],
    "repo": {"sum.js": "exports.add = (a, b) => a;\n"},
    "hidden": {
        "test/sum.test.js": 'const test = require("node:test");\n'
        'const assert = require("node:assert");\n'
        'const { add } = require("../sum.js");\n'
        'test("adds", () => assert.equal(add(1, 2), 3));\n'
        'test("keeps", () => assert.equal(add(1, 0), 1));\n',
    },
    "fixed": ["adds"],
    "kept": ["keeps"],
}
NODE_FIX = "sed -i 's/=> a/=> a + b/' sum.js"


@needs_node
@pytest.mark.parametrize(
    ("script", "expected"),
    [
        (NODE_FIX, ("passed", "passed")),
        ("echo >> sum.js", ("failed", "passed")),
        (f"{NODE_FIX}; echo 'process.exit(0)' >> sum.js", ("missing", "missing")),
        (
            "echo 'console.log(\"ok 1 - adds\\n1..1\"); process.exit(0)' >> sum.js",
            ("missing", "missing"),
        ),
        (
            f"{NODE_FIX}; mkdir test; echo 'throw 1' > test/mine.test.js",
            ("passed", "passed"),
        ),
    ],
)
def test_tap_of_node(run: Run, script: str, expected: tuple[str, str]) -> None:
    result = run("tap", script, **NODE)
    assert tuple(statuses(result).values()) == expected, result.message
    assert (result.outcome == "passed") == (set(expected) == {"passed"})


@needs_node
def test_tap_without_an_end_is_not_believed(run: Run) -> None:
    command = "node --test --test-reporter=tap test/ | head -n 5"
    result = run("tap", NODE_FIX, **NODE | {"command": command})
    assert statuses(result)["adds"] == "passed"
    assert result.outcome == "failed"
    assert "no plan" in result.message


@needs_prove
def test_tap_under_prove(run: Run) -> None:
    result = run(
        "tap",
        "sed -i 's/$_\\[0\\]/$_[0] + $_[1]/' lib/Sum.pm; "
        "echo '--exec /bin/true' > .proverc",
        repo={"lib/Sum.pm": "package Sum;\nsub add { $_[0] }\n1;\n"},
        hidden={
            "t/sum.t": "use Test::More tests => 1;\nuse Sum;\n"
            "is(Sum::add(1, 2), 3, 'adds');\n",
        },
        fixed=["t/sum.t > adds"],
        command="prove -v -Ilib t/",
    )
    assert result.outcome == "passed", result.message


#: Of packages from the npm registry; nothing is installed by a test.
NODE_MODULES = os.environ.get("CODEGENIE_TEST_NODE_MODULES", "")
JAVASCRIPT_TESTS = """
describe("sum", () => {
  test("adds", () => expect(add(1, 2)).toBe(3));
  test("keeps", () => expect(add(1, 0)).toBe(1));
});
"""


@needs_node
@pytest.mark.skipif(
    not NODE_MODULES,
    reason="CODEGENIE_TEST_NODE_MODULES names no directory in which "
    "`npm install jest vitest` was run",
)
@pytest.mark.parametrize(
    ("framework", "options", "imports"),
    [
        ("jest", ["--json", "--outputFile={report}", "--runTestsByPath"], ""),
        (
            "vitest",
            ["run", "--reporter=json", "--outputFile={report}"],
            "import { describe, expect, test } from "
            f'"{NODE_MODULES}/vitest/dist/index.js";\n',
        ),
    ],
)
@pytest.mark.parametrize(
    ("script", "expected"),
    [
        (NODE_FIX, ("passed", "passed")),
        ("echo >> sum.js", ("failed", "passed")),
        (f"{NODE_FIX}; echo '(' >> sum.js", ("missing", "missing")),
        (f"{NODE_FIX}; echo 'process.exit(0)' >> sum.js", ("missing", "missing")),
        (
            f"{NODE_FIX}; for name in jest vitest; do "
            "echo 'throw 1' > $name.config.js; done",
            ("passed", "passed"),
        ),
    ],
)
def test_javascript(
    run: Run,
    framework: str,
    options: list[str],
    imports: str,
    script: str,
    expected: tuple[str, str],
) -> None:
    if not Path(NODE_MODULES, ".bin", framework).exists():
        pytest.skip(f"{framework} is not in CODEGENIE_TEST_NODE_MODULES (npm install)")
    code = "exports.add = (a, b) => a;\n"
    use = 'const { add } = require("./sum.js");\n'
    kind = "commonjs"
    if framework == "vitest":
        code, kind = "export const add = (a, b) => a;\n", "module"
        use = 'import { add } from "./sum.js";\n'
    result = run(
        framework,
        script,
        repo={"sum.js": code, "package.json": json.dumps({"type": kind})},
        hidden={"sum.test.js": imports + use + JAVASCRIPT_TESTS},
        command=[f"{NODE_MODULES}/.bin/{framework}", *options, "{files}"],
        fixed=["sum.test.js > sum > adds"],
        kept=["sum.test.js > sum > keeps"],
    )
    assert tuple(statuses(result).values()) == expected, result.message
    assert (result.outcome == "passed") == (set(expected) == {"passed"})


PYTHON: dict[str, Any] = {
    "repo": {"adding.py": "def add(a, b):\n    return a\n", "pytest.ini": "[pytest]\n"},
    "hidden": {
        "tests/test_adding.py": "import sys\nsys.path.insert(0, '.')\n"
        "from adding import add\n\n\n"
        "def test_adds():\n    assert add(1, 2) == 3\n\n\n"
        "def test_keeps():\n    assert add(1, 0) == 1\n",
    },
}
PYTHON_FIX = "sed -i 's/return a/return a + b/' adding.py"
#: What pytest loads here is none of the case's business.
PYTEST = "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {python} -B -m pytest -p no:cacheprovider "


@pytest.mark.parametrize(
    ("options", "report"),
    [("--junitxml={report}", ""), ("--junitxml=out/TEST-all.xml", "out/TEST-*.xml")],
)
def test_junit(run: Run, options: str, report: str) -> None:
    result = run(
        "junit",
        PYTHON_FIX,
        **PYTHON,
        command=PYTEST + options,
        report=report,
        fixed=["tests.test_adding.test_adds"],
        kept=["tests.test_adding.test_keeps"],
    )
    assert result.outcome == "passed", result.message


@pytest.mark.parametrize(
    ("script", "words"),
    [
        # The report that a patch brings is gone before the run.
        ("mkdir out; cp ../x out/TEST-a.xml; echo '<testsuites/>' > out/TEST-b.xml",
         "nothing was written to out/TEST-*.xml"),
        # One that judged code makes a link, or a pipe, is not followed.
        ("echo 'import os; os.mkdir(\"out\"); os.symlink(\"/etc/passwd\", "
         "\"out/TEST-a.xml\"); os._exit(0)' > adding.py", "TEST-a.xml is missing"),
        ("echo 'import os; os.mkdir(\"out\"); os.mkfifo(\"out/TEST-a.xml\"); "
         "os._exit(0)' > adding.py", "TEST-a.xml is missing, too long or no file"),
        ("echo 'import os; os.symlink(\"/etc\", \"out\"); os._exit(0)' > adding.py",
         "nothing was written to out/TEST-*.xml"),
    ],
)  # fmt: skip
def test_a_junit_report_that_is_none(run: Run, script: str, words: str) -> None:
    result = run(
        "junit",
        script,
        **PYTHON,
        command=PYTEST + "tests",
        report="out/TEST-*.xml",
        fixed=["tests.test_adding.test_adds"],
    )
    assert set(statuses(result).values()) == {"missing"}
    assert words in result.message


def test_junit_that_is_written_nowhere_is_an_error(run: Run) -> None:
    result = run("junit", PYTHON_FIX, **PYTHON, command=PYTEST, fixed=["x"])
    assert result.outcome == "error"
    assert "write it to {report}" in result.message


@pytest.mark.parametrize("parser", ["pytest", "parse_log_flask"])
def test_log(run: Run, parser: str) -> None:
    result = run(
        "log",
        PYTHON_FIX + "; printf '[pytest]\\naddopts = -k nothing\\n' > pytest.ini",
        **PYTHON,
        command=PYTEST + "-rA tests",
        parser=parser,
        fixed=["tests/test_adding.py::test_adds"],
        kept=["tests/test_adding.py::test_keeps"],
    )
    # The settings are put back, and it is said that they were changed.
    assert "tests.tampered" in codes(result)
    assert "the patch sets addopts" in result.message


@pytest.mark.parametrize(
    ("script", "expected", "words"),
    [
        (PYTHON_FIX, ("passed", "passed"), ""),
        ("echo >> adding.py", ("failed", "passed"), "test_adds: failed"),
        ("echo 'import os; os._exit(3)' > adding.py", ("missing", "missing"),
         "ended with exit code 3, but reports no failure"),
        (f"{PYTHON_FIX}; printf 'import atexit, os\\natexit.register(os._exit, 7)\\n' "
         ">> adding.py", ("passed", "passed"), "exit code 7, but reports no failure"),
    ],
)  # fmt: skip
def test_log_needs_exit_code_and_output_to_agree(
    run: Run, script: str, expected: tuple[str, str], words: str
) -> None:
    result = run(
        "log",
        script,
        **PYTHON,
        command=PYTEST + "-rA tests",
        parser="pytest",
        fixed=["tests/test_adding.py::test_adds"],
        kept=["tests/test_adding.py::test_keeps"],
    )
    assert tuple(statuses(result).values()) == expected, result.message
    assert (result.outcome == "passed") == (not words)
    assert words in result.message


def test_log_by_a_parser_that_is_not_known_is_an_error(run: Run) -> None:
    result = run(
        "log", PYTHON_FIX, **PYTHON, command=PYTEST, parser="pytset", fixed=["x"]
    )
    assert result.outcome == "error"
    assert "there is no 'pytset' (did you mean 'pytest'?)" in result.message


@pytest.mark.parametrize(
    ("framework", "keys", "missing"),
    [
        ("tap", {}, "command"),
        ("junit", {}, "command"),
        ("log", {}, "command"),
        ("log", {"command": "x"}, "parser"),
    ],
)
def test_what_a_framework_cannot_do_without(
    run: Run, framework: str, keys: dict[str, str], missing: str
) -> None:
    with pytest.raises(BenchCaseLoadError) as caught:
        run(framework, PYTHON_FIX, **PYTHON, fixed=["x"], **keys)
    assert f"{missing} is required with framework = '{framework}'" in str(caught.value)


def test_a_runner_that_does_not_start_is_an_error(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "cargo"
    program.write_text("#!/bin/sh\necho no toolchain >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    result = run("cargo", PYTHON_FIX, **PYTHON, fixed=["adds"])
    assert result.outcome == "error"
    assert "cargo --version fails: no toolchain" in result.message


def test_a_runner_that_is_not_there_is_an_error(run: Run) -> None:
    result = run("jest", PYTHON_FIX, **PYTHON, fixed=["sum.test.js > adds"])
    assert result.outcome == "error"
    assert "'node_modules/.bin/jest' cannot be started" in result.message
