"""What of a patch is put back before other people's test runners are run."""

from __future__ import annotations

import json
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_codegenie.evaluators.protocol import Judgement
from pytest_codegenie.evaluators.steering import ANY
from pytest_codegenie.evaluators.steering import GO
from pytest_codegenie.evaluators.steering import JAVASCRIPT
from pytest_codegenie.evaluators.steering import RUST
from pytest_codegenie.evaluators.steering import Steering
from pytest_codegenie.evaluators.steering import command_files
from pytest_codegenie.evaluators.steering import put_back
from pytest_codegenie.evaluators.steering import test_code as code_of_tests
from pytest_codegenie.workspaces.host import HostWorkspace


Protect = Callable[..., HostWorkspace]


@pytest.fixture
def judgement(tmp_path: Path) -> Judgement:
    for name in ("base", "overlay", "scratch", "work"):
        (tmp_path / name).mkdir()
    return Judgement(
        instance_id="first",
        base=tmp_path / "base",
        overlay=tmp_path / "overlay",
        fail_to_pass=("x",),
        pass_to_pass=(),
        command=None,
        timeout_seconds=1,
        scratch=tmp_path / "scratch",
        log_path=None,
    )


@pytest.fixture
def tree(judgement: Judgement, tmp_path: Path) -> Path:
    """What the base is copied to; a test lets an agent at it."""
    return tmp_path / "work" / "repo"


@pytest.fixture
def protect(judgement: Judgement, tree: Path) -> Protect:
    def protect(steering: Steering, *files: str) -> HostWorkspace:
        site = HostWorkspace()
        site.tree = tree
        put_back(judgement, site, steering, files)
        return site

    return protect


def write(directory: Path, **files: str) -> None:
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def content(directory: Path) -> dict[str, str]:
    return {
        path.relative_to(directory).as_posix(): path.read_text()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize(
    ("steering", "path"),
    [
        (GO, "sum_test.go"),
        (GO, "deep/er/sum_test.go"),
        (GO, "deep/testdata/golden.txt"),
        (GO, "internal/testutil/assert.go"),
        (GO, "vendor/github.com/stretchr/testify/assert/assertions.go"),
        (GO, "go.work"),
        (RUST, "tests/common/mod.rs"),
        (RUST, "src/tests.rs"),
        (RUST, "crates/a/src/sum_test.rs"),
        (RUST, ".cargo/config.toml"),
        (RUST, "rust-toolchain"),
        (JAVASCRIPT, "src/sum.test.ts"),
        (JAVASCRIPT, "src/__snapshots__/sum.js.snap"),
        (JAVASCRIPT, "node_modules/jest/package.json"),
        (JAVASCRIPT, "packages/a/node_modules/.bin/vitest"),
        (JAVASCRIPT, "jest.config.ts"),
        (JAVASCRIPT, "vitest.workspace.json"),
        (JAVASCRIPT, ".npmrc"),
        (ANY, "t/basic.t"),
        (ANY, ".proverc"),
        (ANY, "src/test/java/SumTest.java"),
        (ANY, "unit-tests/run.sh"),
    ],
)
def test_what_steers_is_put_back(
    steering: Steering, path: str, judgement: Judgement, tree: Path, protect: Protect
) -> None:
    write(judgement.base, **{path: "base", "code.txt": "base"})
    shutil.copytree(judgement.base, tree)
    write(tree, **{path: "agent", "code.txt": "agent"})
    protect(steering)
    assert content(tree) == {path: "base", "code.txt": "agent"}

    (tree / path).unlink()
    protect(steering)
    assert content(tree)[path] == "base"

    (judgement.base / path).unlink()
    protect(steering)
    assert content(tree) == {"code.txt": "agent"}


@pytest.mark.parametrize(
    ("steering", "path"),
    [
        (GO, "go.mod"),
        (GO, "contest.go"),
        (GO, "vendor/github.com/acme/lib/lib.go"),
        (GO, "latest/sum.go"),
        (RUST, "build.rs"),
        (RUST, "src/attests/mod.rs"),
        (JAVASCRIPT, "src/vitest/index.js"),
        (JAVASCRIPT, "src/inspect.js"),
        (JAVASCRIPT, "tsconfig.json"),
        (ANY, "pom.xml"),
        (ANY, "src/main/java/Sum.java"),
    ],
)
def test_honest_work_stays(
    steering: Steering, path: str, judgement: Judgement, tree: Path, protect: Protect
) -> None:
    write(judgement.base, **{path: "base"})
    write(tree, **{path: "agent"})
    protect(steering)
    assert content(tree) == {path: "agent"}


def test_of_package_json_only_what_steers_is_put_back(
    judgement: Judgement, tree: Path, protect: Protect
) -> None:
    base = {"name": "sum", "scripts": {"test": "jest"}, "version": "1"}
    agent = base | {"scripts": {"test": "true"}, "jest": {"rootDir": "no"}}
    agent |= {"version": "2", "dependencies": {"left-pad": "1"}}
    write(judgement.base, **{"package.json": json.dumps(base)})
    write(tree, **{"package.json": json.dumps(agent)})
    protect(JAVASCRIPT)
    assert json.loads((tree / "package.json").read_text()) == {
        "name": "sum",
        "scripts": {"test": "jest"},
        "version": "2",
        "dependencies": {"left-pad": "1"},
    }


def test_of_cargo_toml_only_what_steers_is_put_back(
    judgement: Judgement, tree: Path, protect: Protect
) -> None:
    base = '[package]\nname = "sum"\n[dev-dependencies]\nrand = "1"\n'
    agent = base.replace('rand = "1"', 'rand = { path = "mine" }')
    agent += '[lib]\nname = "s"\ntest = false\n[[test]]\nname = "x"\nharness = false\n'
    agent += '[dependencies]\nserde = "1"\n[profile.test]\ndebug-assertions = false\n'
    write(judgement.base, **{"Cargo.toml": base})
    write(tree, **{"Cargo.toml": agent})
    protect(RUST)
    assert tomllib.loads((tree / "Cargo.toml").read_text()) == {
        "package": {"name": "sum"},
        "dev-dependencies": {"rand": "1"},
        "lib": {"name": "s"},
        "dependencies": {"serde": "1"},
        "profile": {},
    }


@pytest.mark.parametrize("text", ["{", "[1]", "{" * 50_000])
def test_a_file_that_no_runner_can_read_stays(
    text: str, judgement: Judgement, tree: Path, protect: Protect
) -> None:
    write(judgement.base, **{"package.json": '{"scripts": {"test": "jest"}}'})
    write(tree, **{"package.json": text})
    protect(JAVASCRIPT)
    assert content(tree) == {"package.json": text}


def test_a_link_in_the_place_of_tests_is_replaced(
    judgement: Judgement, tree: Path, protect: Protect
) -> None:
    write(judgement.base, **{"tests/a.rs": "base", "run.sh": "base"})
    write(tree, **{"mine/a.rs": "agent", "mine/run.sh": "agent"})
    (tree / "tests").symlink_to("mine")
    (tree / "run.sh").symlink_to("mine/run.sh")
    protect(RUST, "run.sh")
    assert content(tree) == {
        "mine/a.rs": "agent",
        "mine/run.sh": "agent",
        "run.sh": "base",
        "tests/a.rs": "base",
    }


def test_a_settings_file_that_became_a_link_is_the_bases_again(
    judgement: Judgement, tree: Path, protect: Protect
) -> None:
    write(judgement.base, **{"package.json": '{"a": 1}'})
    write(tree, **{"other.json": '{"jest": 1}'})
    (tree / "package.json").symlink_to("other.json")
    protect(JAVASCRIPT)
    assert json.loads((tree / "package.json").read_text()) == {"a": 1}


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("make -C lib check", {"Makefile", "GNUmakefile", "lib"}),
        ("./run-tests.sh > out", {"run-tests.sh"}),
        (["sh", "ci/run.sh", "-x"], {"ci/run.sh"}),
        (None, set()),
    ],
)
def test_what_a_command_names_is_put_back(
    command: str | list[str] | None, files: set[str]
) -> None:
    assert files <= set(command_files(command))


def test_only_code_of_tests_may_not_be_written_to(
    judgement: Judgement, tree: Path, protect: Protect
) -> None:
    assert judgement.overlay is not None
    files = {"tests/a.js": "", "tests/out.txt": "", "src/a.js": "", "checks/b.js": ""}
    write(tree, **files)
    write(judgement.overlay, **{"checks/b.js": ""})
    site = protect(Steering())
    assert code_of_tests(judgement, site, JAVASCRIPT) == ["checks/b.js", "tests/a.js"]
