"""Taking back from a patch what steers a Python test run.

Two things are done with the tree after the patch is applied. Everything that steers
is *put back* as the base has it, whatever the patch did to it: test files and their
directories, ``conftest.py``, pytest's own configuration files, start-up hooks of the
interpreter, bytecode, package metadata. And what has no honest purpose is *reported*:
a hook in ``conftest.py``, a ``sitecustomize.py``, a module that shadows pytest.
Editing a visible test or adding a fixture is put back, but no tampering.

What the reference solution touches among tests is not put back, as every solution may
have to touch it; it is looked at all the same. The files of the asked tests are none of
it.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Collection
from pathlib import Path
from pathlib import PurePosixPath

from pytest_codegenie.evaluators.protocol import Judgement
from pytest_codegenie.evaluators.protocol import Site
from pytest_codegenie.evaluators.pytest_settings import PYTEST_FILES
from pytest_codegenie.evaluators.pytest_settings import STEERING_SETTINGS
from pytest_codegenie.evaluators.pytest_settings import pytest_settings
from pytest_codegenie.evaluators.pytest_settings import read_settings
from pytest_codegenie.evaluators.pytest_settings import settings_findings
from pytest_codegenie.trees import walk


TEST_DIRECTORIES = frozenset({"test", "tests", "testing"})
#: Kinds of files in which a reference solution may have something to do.
_MAY_BE_SOLVED = frozenset({"conftest", "settings", "tests"})
_STARTUP = frozenset({"sitecustomize.py", "usercustomize.py"})
_SHADOWED = frozenset(sys.stdlib_module_names) | {
    "_pytest",
    "iniconfig",
    "packaging",
    "pluggy",
    "py",
    "pygments",
    "pytest",
}
_MACHINERY = frozenset({"_pytest", "pluggy", "pytest", "unittest"})


def protect_python(
    judgement: Judgement,
    site: Site,
    *,
    settings: frozenset[str] = STEERING_SETTINGS,
    more_files: frozenset[str] = frozenset(),
    more_modules: frozenset[str] = frozenset(),
) -> tuple[str, ...]:
    """Put back what steers; return what was tampered with, one sentence each.

    Args:
        judgement: The base, and which tests are asked for.
        site: The tree with the patch.
        settings: Those of pytest's that a patch may not change.
        more_files: Paths that steer this run in particular.
        more_modules: Names that a new module of the tree may not have.
    """
    before, after = tree_files(judgement.base), tree_files(site.tree)
    asked = _asked_files(judgement) | more_files
    roots = _import_roots(judgement.base)
    links = {path for path in after if (site.tree / path).is_symlink()}
    findings = []
    put: dict[str, Path | None] = {}
    for path in sorted(before | after):
        kind = _steers(PurePosixPath(path), asked)
        if kind is None and path in links and _holds_tests(path, asked):
            kind = "tests"
        is_new = path not in before
        if (
            kind is None
            and is_new
            and _shadows(path, roots, _SHADOWED | more_modules, is_link=path in links)
        ):
            kind = "shadow"
        if kind is None:
            continue
        base_file = judgement.base / path if path in before else None
        beyond_link = any(
            parent.as_posix() in links for parent in PurePosixPath(path).parents
        )
        if not beyond_link and is_same(base_file, site.tree / path):
            continue
        if not beyond_link:
            finding = _finding(kind, path, base_file, site.tree)
            if finding:
                findings.append(finding)
        through_link = beyond_link or path in links
        if kind in _MAY_BE_SOLVED and not through_link:
            if is_solved(path, judgement, more_files):
                continue
        if base_file or path in after:
            put[path] = base_file
    findings += settings_findings(judgement.base, site.tree, settings)
    # Removals first: a file may stand where a directory has to be, or a link.
    site.put({path: source for path, source in put.items() if source is None})
    site.put({path: source for path, source in put.items() if source is not None})
    return tuple(findings)


def is_solved(path: str, judgement: Judgement, named: Collection[str]) -> bool:
    """Say whether a file among tests is left as the patch has it.

    It is where the reference solution touches it too. But what decides stays: a file of
    tests that are asked for, unless these stand in the code itself, as doctests do.

    Args:
        path: POSIX, relative to the tree.
        judgement: What the reference solution touches, and what is asked for.
        named: Files that the run's command names; they stay.
    """
    if path not in judgement.gold_paths:
        return False
    if path in _asked_files(judgement):
        return not _is_test_file(PurePosixPath(path))
    return path not in named


def python_test_files(judgement: Judgement, tree: Path) -> tuple[str, ...]:
    """Return the Python files that the asked tests are made of, as far as places tell.

    The asked files, every ``conftest.py``, and what lies beside the asked files or
    above them in test directories.
    """
    asked = _asked_files(judgement)
    homes = {
        parent.as_posix()
        for file in asked
        for parent in PurePosixPath(file).parents
        if any(map(_is_test_directory, parent.parts))
    }
    return tuple(
        path
        for path in sorted(tree_files(tree))
        if path in asked
        or PurePosixPath(path).name == "conftest.py"
        or (path.endswith(".py") and PurePosixPath(path).parent.as_posix() in homes)
    )


def tree_files(tree: Path) -> set[str]:
    """Return the POSIX paths of all files and links in a tree, ``.git`` left out."""
    return {
        path
        for path, entry in walk(tree, skip=".git")
        if not entry.is_dir(follow_symlinks=False)
    }


def _asked_files(judgement: Judgement) -> frozenset[str]:
    """Return the files that the asked tests are in, as far as ids tell."""
    files = set()
    for test_id in (*judgement.fail_to_pass, *judgement.pass_to_pass):
        path = test_id.partition("::")[0]
        files.add(path if path.endswith(".py") else module_file(test_id))
    return frozenset(files)


def module_file(test: str) -> str:
    """Return ``tests/test_x.py`` for the unittest id ``tests.test_x.TestY.test_z``."""
    return "/".join(dotted(test).split(".")[:-2]) + ".py"


def dotted(test: str) -> str:
    """Return ``tests.test_x.TestY.test_z`` for ``test_z (tests.test_x.TestY)`` too."""
    method, separator, rest = test.partition(" (")
    place = rest.rstrip(")")
    if not separator:
        return test
    # Since 3.11 unittest repeats the method in the parentheses.
    return place if place.endswith(f".{method}") else f"{place}.{method}"


def _is_test_directory(name: str) -> bool:
    """Say whether a directory of that name is for tests: ``tests``, ``unit_tests``."""
    return not TEST_DIRECTORIES.isdisjoint(re.split(r"[_-]", name.lower()))


def _is_test_file(path: PurePosixPath) -> bool:
    named = path.stem.startswith("test") or path.stem.endswith(("_test", "_tests"))
    return named or any(map(_is_test_directory, path.parts[:-1]))


def _import_roots(base: Path) -> frozenset[str]:
    """Return the directories whose modules are importable by their bare names."""
    settings = pytest_settings([base])
    extra = read_settings(settings).get("pythonpath") if settings else None
    if isinstance(extra, str):
        extra = extra.split()
    elif not isinstance(extra, list):
        extra = []
    return frozenset({"", "src", *(str(path).strip("./") for path in extra)})


def _steers(path: PurePosixPath, asked: frozenset[str]) -> str | None:
    """Return in which way a file steers a test run; None if it does not."""
    parts = path.parts
    if path.suffix in (".pyc", ".pyo") or "__pycache__" in parts:
        return "bytecode"
    if path.name in _STARTUP or path.suffix == ".pth":
        return "startup"
    if any(part.endswith((".egg-info", ".dist-info", ".egg-link")) for part in parts):
        return "metadata"
    if path.name == "conftest.py":
        return "conftest"
    if path.name in PYTEST_FILES:
        return "settings"
    if str(path) in asked or any(map(_is_test_directory, parts[:-1])):
        return "tests"
    return None


def _holds_tests(directory: str, asked: frozenset[str]) -> bool:
    return _is_test_directory(PurePosixPath(directory).name) or any(
        path.startswith(f"{directory}/") for path in asked
    )


def _shadows(
    name: str, roots: frozenset[str], modules: frozenset[str], *, is_link: bool
) -> bool:
    """Say whether ``import`` would take the file for a module that tests rely on."""
    path = PurePosixPath(name)
    for root in roots:
        if root and not path.is_relative_to(root):
            continue
        top, *rest = path.parts[len(PurePosixPath(root).parts) :] or [""]
        module, _, suffix = top.partition(".")
        if module not in modules:
            continue
        if rest:
            # Without __init__ it is a namespace, which the real module precedes.
            if rest[0].partition(".")[0] == "__init__":
                return True
        elif suffix == "py" or suffix.endswith("so") or (is_link and not suffix):
            return True
    return False


def is_same(base: Path | None, judged: Path) -> bool:
    """Say whether a file or link is in both trees, and the same."""
    if base is None or base.is_symlink() != judged.is_symlink():
        return False
    if base.is_symlink():
        return base.readlink() == judged.readlink()
    return judged.is_file() and base.read_bytes() == judged.read_bytes()


def _finding(kind: str, path: str, base_file: Path | None, tree: Path) -> str:
    """Say how a change has no purpose but to steer; "" if it may be honest."""
    judged = tree / path
    done = "changes" if base_file else "plants"
    if judged.is_symlink() and kind != "metadata":
        return _link_finding(path, judged, tree)
    if not judged.is_file():
        return ""  # deleted; it is put back
    if kind == "startup" and "site-packages" not in PurePosixPath(path).parts:
        return f"the patch {done} {path}, which the interpreter runs at its start"
    if kind == "bytecode":
        return f"the patch {done} {path}: bytecode that would run instead of source"
    if kind == "metadata" and path.endswith("entry_points.txt"):
        if b"pytest11" in judged.read_bytes():
            return f"the patch {done} {path}, which loads a pytest plugin"
    if kind == "shadow":
        return f"the patch plants {path}, which shadows a module that the tests use"
    if kind in ("conftest", "tests"):
        hooks = steering_code(judged)
        if base_file:
            hooks -= steering_code(base_file)
        if kind == "tests":
            # A hook is one in a conftest.py only.
            hooks = {hook for hook in hooks if not hook.startswith("pytest_")}
        if hooks:
            names = ", ".join(sorted(hooks))
            return f"the patch {done} {path} to steer pytest: {names}"
    return ""


def _link_finding(path: str, link: Path, tree: Path) -> str:
    """Say that a link leads what is judged elsewhere; "" if it stays in the tree."""
    target = Path(os.path.normpath(link.parent / link.readlink()))
    if target.is_relative_to(tree) and not (
        _is_test_directory(link.name) or link.suffix == ".py"
    ):
        return ""
    return f"the patch makes {path} a link to {str(link.readlink())!r}"


def steering_code(file: Path) -> set[str]:
    """Return what a conftest.py does to pytest itself, by name.

    Its hooks, plugins and files to ignore, and what it changes of pytest's or
    unittest's own modules. Registering a marker is no steering.
    """
    if file.is_symlink():
        return {"a link"}
    source = file.read_text(encoding="utf-8", errors="replace")
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    machinery = _machinery_names(tree)
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if node.name.startswith("pytest_") and not _only_adds_markers(node):
                found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            if node.id.startswith(("pytest_", "collect_ignore")):
                found.add(node.id)
        elif isinstance(node, ast.ImportFrom):
            names = (alias.asname or alias.name for alias in node.names)
            found.update(name for name in names if name.startswith("pytest_"))
        elif isinstance(node, ast.Attribute) and isinstance(
            node.ctx, ast.Store | ast.Del
        ):
            if _root(node) in machinery:
                found.add(ast.unparse(node))
        elif isinstance(node, ast.Call) and _called(node) in ("setattr", "delattr"):
            if node.args and _root(node.args[0]) in machinery:
                found.add(f"{_called(node)}({ast.unparse(node.args[0])}, ...)")
    return found


def _machinery_names(tree: ast.Module) -> set[str]:
    """Return the names that a module gives to pytest's and unittest's own things."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(
                alias.asname or alias.name.partition(".")[0]
                for alias in node.names
                if alias.name.partition(".")[0] in _MACHINERY
            )
        elif isinstance(node, ast.ImportFrom):
            if (node.module or "").partition(".")[0] in _MACHINERY:
                names.update(alias.asname or alias.name for alias in node.names)
    return names


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _only_adds_markers(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Say whether a hook is ``pytest_configure`` and does nothing but that."""
    if node.name != "pytest_configure":
        return False
    for statement in node.body:
        value = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(value, ast.Constant):
            continue
        if not (
            isinstance(value, ast.Call)
            and isinstance(value.func, ast.Attribute)
            and value.func.attr == "addinivalue_line"
            and value.args
            and isinstance(value.args[0], ast.Constant)
            and value.args[0].value in ("markers", "filterwarnings")
        ):
            return False
    return True
