"""Taking back from a patch what steers a Python test run.

Two things are done with the tree after the patch is applied. Everything that steers
is *put back* as the base has it, whatever the patch did to it: test files and their
directories, ``conftest.py``, pytest's own configuration files, start-up hooks of the
interpreter, bytecode, package metadata. And what has no honest purpose is *reported*:
a hook in ``conftest.py``, a ``sitecustomize.py``, a module that shadows pytest.
Editing a visible test or adding a fixture is put back, but no tampering.
"""

from __future__ import annotations

import ast
import configparser
import os
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path
from pathlib import PurePosixPath

from pytest_codegenie.evaluators.protocol import Judgement
from pytest_codegenie.evaluators.protocol import Site


TEST_DIRECTORIES = frozenset({"test", "tests", "testing"})
#: Read by pytest alone, in its order of precedence.
PYTEST_FILES = ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini")
#: Read by pytest and by others: where its settings stand in them.
SHARED_FILES = {
    "pyproject.toml": ("tool", "pytest"),
    "tox.ini": ("pytest",),
    "setup.cfg": ("tool:pytest",),
}
#: Settings that decide which code runs, or which tests.
STEERING_SETTINGS = frozenset(
    {
        "addopts",
        "collect_imported_tests",
        "confcutdir",
        "norecursedirs",
        "python_classes",
        "python_files",
        "python_functions",
        "required_plugins",
        "usefixtures",
        "xfail_strict",
    }
)
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


def protect_python(judgement: Judgement, site: Site) -> tuple[str, ...]:
    """Put back what steers; return what was tampered with, one sentence each."""
    before, after = _files(judgement.base), _files(site.tree)
    asked = _asked_files(judgement)
    roots = _import_roots(judgement.base)
    findings = []
    put: dict[str, Path | None] = {}
    for path in sorted(before | after):
        kind = _steers(PurePosixPath(path), asked, roots, new=path not in before)
        if kind is None:
            continue
        base_file = judgement.base / path if path in before else None
        if _same(base_file, site.tree / path):
            continue
        finding = _finding(kind, path, base_file, site.tree / path)
        if finding:
            findings.append(finding)
        put[path] = base_file
    findings += _settings_findings(judgement.base, site.tree)
    # Removals first: a file may stand where a directory has to be, or a link.
    site.put({path: source for path, source in put.items() if source is None})
    site.put({path: source for path, source in put.items() if source is not None})
    return tuple(findings)


def pytest_settings(case_copies: Iterable[Path]) -> Path | None:
    """Return the file that holds the case's own pytest settings, if there is one.

    Args:
        case_copies: Trees of the case (never the agent's), the first wins.
    """
    for tree in case_copies:
        for name in (*PYTEST_FILES, *SHARED_FILES):
            path = tree / name
            if path.is_file() and (name in PYTEST_FILES or _settings(path)):
                return path
    return None


def _files(tree: Path) -> set[str]:
    """Return the POSIX paths of all files and links in a tree, ``.git`` left out."""
    found: set[str] = set()
    top_length = len(os.fspath(tree)) + 1
    for top, directories, files in os.walk(tree):
        prefix = top[top_length:]
        prefix = f"{prefix}/" if prefix else ""
        if not prefix and ".git" in directories:
            directories.remove(".git")
        found.update(prefix + name for name in files)
        for name in directories:
            if Path(top, name).is_symlink():
                found.add(prefix + name)
    return found


def _asked_files(judgement: Judgement) -> frozenset[str]:
    """Return the files that the asked tests are in, as far as ids tell."""
    files = set()
    for test_id in (*judgement.fail_to_pass, *judgement.pass_to_pass):
        path = test_id.partition("::")[0]
        files.add(path if path.endswith(".py") else _module_file(test_id))
    return frozenset(files)


def _module_file(dotted: str) -> str:
    """Return ``tests/test_x.py`` for the unittest id ``tests.test_x.TestY.test_z``."""
    return "/".join(dotted.split(".")[:-2]) + ".py"


def _import_roots(base: Path) -> frozenset[str]:
    """Return the directories whose modules are importable by their bare names."""
    settings = pytest_settings([base])
    extra = _settings(settings).get("pythonpath") if settings else None
    if isinstance(extra, str):
        extra = extra.split()
    elif not isinstance(extra, list):
        extra = []
    return frozenset({"", "src", *(str(path).strip("./") for path in extra)})


def _steers(
    path: PurePosixPath, asked: frozenset[str], roots: frozenset[str], *, new: bool
) -> str | None:
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
    if str(path) in asked or TEST_DIRECTORIES.intersection(parts[:-1]):
        return "tests"
    if new and _shadows(path, roots):
        return "shadow"
    return None


def _shadows(path: PurePosixPath, roots: frozenset[str]) -> bool:
    for root in roots:
        inside = path.parts[len(PurePosixPath(root).parts) :]
        if root and not path.is_relative_to(root):
            continue
        if not inside:
            continue
        top = inside[0].partition(".")[0]
        is_module = len(inside) > 1 or path.suffix in (".py", ".so", "")
        if is_module and top in _SHADOWED:
            return True
    return False


def _same(base_file: Path | None, judged: Path) -> bool:
    if base_file is None:
        return False
    if base_file.is_symlink() or judged.is_symlink():
        return (
            base_file.is_symlink()
            and judged.is_symlink()
            and base_file.readlink() == judged.readlink()
        )
    return judged.is_file() and base_file.read_bytes() == judged.read_bytes()


def _finding(kind: str, path: str, base_file: Path | None, judged: Path) -> str:
    """Say how a change has no purpose but to steer; "" if it may be honest."""
    done = "changes" if base_file else "plants"
    if not judged.is_symlink() and not judged.is_file():
        return ""  # deleted; it is put back
    if kind == "startup":
        return f"the patch {done} {path}, which the interpreter runs at its start"
    if kind == "bytecode":
        return f"the patch {done} {path}: bytecode that would run instead of source"
    if kind == "metadata" and path.endswith("entry_points.txt"):
        return f"the patch {done} {path}, which can load a pytest plugin"
    if kind == "shadow":
        return f"the patch plants {path}, which shadows a module that the tests use"
    if kind == "conftest":
        hooks = _steering_code(judged) - (
            _steering_code(base_file) if base_file else set()
        )
        if hooks:
            names = ", ".join(sorted(hooks))
            return f"the patch {done} {path} to steer pytest: {names}"
    return ""


def _steering_code(conftest: Path) -> set[str]:
    """Return the hooks of a conftest.py, each with its text, as ``name``.

    Also what reaches into pytest's own modules.
    """
    if conftest.is_symlink():
        return {"a link"}
    source = conftest.read_text(encoding="utf-8", errors="replace")
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return set()
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if node.name.startswith("pytest_"):
                found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            if node.id.startswith(("pytest_", "collect_ignore")):
                found.add(node.id)
        elif isinstance(node, ast.Import):
            found.update(a.name for a in node.names if a.name.startswith("_pytest"))
        elif isinstance(node, ast.ImportFrom):
            if (node.module or "").startswith("_pytest"):
                found.add(node.module or "")
    return found


def _settings_findings(base: Path, tree: Path) -> list[str]:
    findings = []
    for name in (*PYTEST_FILES, *SHARED_FILES):
        before, after = _settings(base / name), _settings(tree / name)
        changed = sorted(
            key
            for key in STEERING_SETTINGS
            if key in after and before.get(key) != after[key]
        )
        if changed:
            findings.append(
                f"the patch sets {', '.join(changed)} for pytest in {name}"
            )
    return findings


def _settings(path: Path) -> dict[str, object]:
    """Return pytest's settings in a file; empty where it has none or is unreadable."""
    if path.is_symlink() or not path.is_file():
        return {}
    text = path.read_text(encoding="utf-8", errors="replace")
    keys = SHARED_FILES.get(path.name, ("pytest",))
    if path.suffix == ".toml":
        try:
            table: object = tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError):
            return {}
        for key in keys:
            table = table.get(key) if isinstance(table, dict) else None
        if not isinstance(table, dict):
            return {}
        options = table.get("ini_options")
        return dict(options) if isinstance(options, dict) else dict(table)
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return {}
    return dict(parser.items(keys[0])) if parser.has_section(keys[0]) else {}
