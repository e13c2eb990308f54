"""Taking back from a patch what steers a test run outside of Python.

Everything is *put back* as the base has it, silently, as all of it may be there for
an honest reason: tests and what they are made of, and the settings of the runner that
decide which tests run and which code runs with them. Of a file that holds such
settings beside honest ones (``package.json``, ``Cargo.toml``), only the settings.

Left as the patch has them are build files in which honest work is common, and which
cannot be told apart: ``go.mod``, ``build.rs``, ``pom.xml``, ``build.gradle``,
``CMakeLists.txt``. A case to which they matter has its own in ``expected/overlay``.
"""

from __future__ import annotations

import copy
import fnmatch
import json
import re
import tomllib
from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path
from pathlib import PurePosixPath
from typing import Any

import tomli_w

from pytest_codegenie.evaluators.protection import is_same
from pytest_codegenie.evaluators.protection import is_solved
from pytest_codegenie.evaluators.protection import tree_files
from pytest_codegenie.evaluators.protocol import Judgement
from pytest_codegenie.evaluators.protocol import Site


#: What is a test's wherever it lies.
_TEST_PLACES = (
    "test/",
    "tests/",
    "testing/",
    "*[_-]tests/",
    "*[_-]test/",
    "test[_-]*/",
    "testdata/",
    "testutil*/",
)
#: What a test run may be made to write, and then read; what else lies in a place of
#: tests may be written by an honest one.
_CODE = re.compile(
    r".*\.(bats|c|cc|cjs|cpp|cs|go|h|hpp|java|js|jsx|kt|lua|mjs|php|pl|pm|py|rb|rs|"
    r"scala|sh|swift|t|ts|tsx)"
)


@dataclass(frozen=True, slots=True)
class Steering:
    """What steers one kind of runner."""

    #: Files of tests, as names, paths (with ``/``) or directories (ending in it).
    tests: tuple[str, ...] = ()
    #: Files of the runner.
    settings: tuple[str, ...] = ()
    #: Name of a file to those of its keys that are the runner's, dotted.
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __or__(self, other: Steering) -> Steering:
        """Return what steers one or the other."""
        return Steering(
            self.tests + other.tests,
            self.settings + other.settings,
            {**self.keys, **other.keys},
        )


GO = Steering(
    tests=("*_test.go", *_TEST_PLACES),
    settings=(
        "go.work",
        "go.work.sum",
        # Libraries that tests judge with, where they are part of the repository.
        "vendor/github.com/frankban/quicktest/",
        "vendor/github.com/google/go-cmp/",
        "vendor/github.com/onsi/",
        "vendor/github.com/stretchr/testify/",
        "vendor/gopkg.in/check.v1/",
        "vendor/gotest.tools/",
    ),
)
RUST = Steering(
    tests=("tests.rs", "test_*.rs", "*_test.rs", "*_tests.rs", *_TEST_PLACES),
    settings=(
        ".cargo/config",
        ".cargo/config.toml",
        "rust-toolchain",
        "rust-toolchain.toml",
    ),
    keys={
        "Cargo.toml": (
            "bench",
            "dev-dependencies",
            "lib.doctest",
            "lib.harness",
            "lib.test",
            "package.autotests",
            "patch",
            "profile.dev",
            "profile.test",
            "replace",
            "test",
        )
    },
)
JAVASCRIPT = Steering(
    tests=(
        "*.snap",
        "*.spec.*",
        "*.test.*",
        "__fixtures__/",
        "__mocks__/",
        "__snapshots__/",
        "__tests__/",
        "e2e/",
        "spec/",
        "specs/",
        *_TEST_PLACES,
    ),
    settings=(
        ".babelrc*",
        ".mocharc*",
        ".npmrc",
        ".nycrc*",
        ".pnp.*",
        ".pnpmfile.cjs",
        ".swcrc",
        ".taprc",
        ".yarn/",
        ".yarnrc*",
        "babel.config.*",
        "jest.config.*",
        "jest.setup.*",
        "node_modules/",
        "setupTests.*",
        "vite.config.*",
        "vitest.*",
    ),
    keys={
        "package.json": (
            "ava",
            "babel",
            "c8",
            "jest",
            "mocha",
            "nyc",
            "scripts",
            "tap",
            "vitest",
        )
    },
)
_OTHERS = Steering(
    tests=("*.bats", "*.t", "t/", "xt/"),
    settings=(
        ".proverc",
        ".rspec",
        "CTestTestfile.cmake",
        "phpunit.xml*",
        "testng.xml",
    ),
)
#: For runners that may run anything.
ANY = GO | RUST | JAVASCRIPT | _OTHERS
#: Program of a command to the files in which it looks up what to do.
_RECIPES = {
    "gmake": ("GNUmakefile", "makefile", "Makefile"),
    "just": ("justfile", "Justfile", ".justfile"),
    "make": ("GNUmakefile", "makefile", "Makefile"),
    "rake": ("Rakefile",),
    "task": ("Taskfile.yml", "Taskfile.yaml"),
}


def command_files(command: str | Iterable[str] | None) -> tuple[str, ...]:
    """Return what a command names: files of the tree, and recipes of its programs."""
    words = (
        re.split(r"[\s;&|()<>'\"]+", command) if isinstance(command, str) else command
    )
    files: list[str] = []
    for word in words or ():
        name = word.removeprefix("./")
        files += _RECIPES.get(PurePosixPath(name).name, (name,) if name else ())
    return tuple(files)


def put_back(
    judgement: Judgement, site: Site, steering: Steering, files: Iterable[str] = ()
) -> None:
    """Put back what steers, but for tests that the reference solution touches too.

    Args:
        judgement: The base.
        site: The tree with the patch.
        steering: By patterns.
        files: By exact path.
    """
    before, after = tree_files(judgement.base), tree_files(site.tree)
    steers = _pattern((*steering.tests, *steering.settings))
    tests = _pattern(steering.tests)
    exact = frozenset(files)
    links = {path for path in after if (site.tree / path).is_symlink()}
    put: dict[str, Path | None] = {}
    for path in sorted(before | after):
        # A link may stand for a directory, whose pattern ends in a slash.
        name = f"/{path}/" if path in links else f"/{path}"
        # Settings cannot be put back in a file that a link stands for.
        linked = path in links and PurePosixPath(path).name in steering.keys
        if not (linked or path in exact or steers.fullmatch(name)):
            continue
        if path in exact or tests.fullmatch(name):
            if path not in links and is_solved(path, judgement, exact):
                continue
        beyond_link = any(
            str(parent) in links for parent in PurePosixPath(path).parents
        )
        source = judgement.base / path if path in before else None
        if beyond_link or not is_same(source, site.tree / path):
            put[path] = source
    # Removals first: a file may stand where a directory has to be, or a link.
    site.put({path: None for path, source in put.items() if source is None})
    site.put({path: source for path, source in put.items() if source is not None})
    _put_back_keys(judgement, site, steering, sorted(after - links))


def test_code(judgement: Judgement, site: Site, steering: Steering) -> list[str]:
    """Return the files of code that the tests are made of, hidden ones included."""
    is_test = _pattern(steering.tests)
    hidden = tree_files(judgement.overlay) if judgement.overlay else set()
    return [
        path
        for path in sorted(tree_files(site.tree))
        if _CODE.fullmatch(path) and (path in hidden or is_test.fullmatch(f"/{path}"))
    ]


def _pattern(patterns: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern for paths that start with a slash."""
    alternatives = (
        fnmatch.translate(f"*/{pattern}*" if pattern.endswith("/") else f"*/{pattern}")
        for pattern in patterns
    )
    return re.compile("|".join(alternatives) or r"(?!)")


def _put_back_keys(
    judgement: Judgement, site: Site, steering: Steering, files: Iterable[str]
) -> None:
    for path in files:
        keys = steering.keys.get(PurePosixPath(path).name, ())
        if not keys:
            continue
        judged = _read(site.tree / path)
        base = _read(judgement.base / path) or {}
        if judged is None:
            continue  # The runner cannot read it either.
        mended = copy.deepcopy(judged)
        for key in keys:
            _copy_key(key.split("."), base, mended)
        if mended != judged:
            copied = judgement.scratch / f"mended{Path(path).suffix}"
            copied.write_text(_dump(mended, path), encoding="utf-8")
            site.put({path: copied})


def _copy_key(keys: list[str], base: Any, target: dict[str, Any]) -> None:
    """Make a value what it is in the base; remove it where the base has none."""
    first, *rest = keys
    value = base.get(first) if isinstance(base, dict) else None
    if rest and isinstance(target.get(first), dict):
        _copy_key(rest, value, target[first])
    elif rest and isinstance(value, dict):
        target[first] = {}
        _copy_key(rest, value, target[first])
        if not target[first]:
            del target[first]
    elif not rest and value is not None:
        target[first] = value
    elif not rest:
        target.pop(first, None)


def _read(path: Path) -> dict[str, Any] | None:
    """Return a table; None where there is none that can be read."""
    if path.is_symlink() or not path.is_file():
        return None
    try:
        text = path.read_text(encoding="utf-8")
        table = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except (ValueError, RecursionError):
        return None
    return table if isinstance(table, dict) else None


def _dump(table: dict[str, Any], path: str) -> str:
    return (
        json.dumps(table, indent=2) if path.endswith(".json") else tomli_w.dumps(table)
    )
