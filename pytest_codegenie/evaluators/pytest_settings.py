"""pytest's settings in a tree: where they stand, and which a patch may not change."""

from __future__ import annotations

import configparser
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path


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
#: Honest changes; they have no effect where the settings are the case's own.
PATH_SETTINGS = frozenset({"pythonpath", "testpaths"})
#: Of ``addopts``: how a run looks.
_HARMLESS_OPTION = re.compile(
    r"-[qvs]+|-r[a-zA-Z]+|-[lh]|--(strict(-markers|-config)?|showlocals|no-header|"
    r"no-summary|verbose|quiet|(tb|color|durations|durations-min|show-capture|"
    r"capture|verbosity|code-highlight|cov|cov-report|cov-config|cov-branch|"
    r"junitxml|junit-xml|log-level)(=.*)?)"
)


def pytest_settings(case_copies: Iterable[Path]) -> Path | None:
    """Return the file that holds the case's own pytest settings, if there is one.

    Args:
        case_copies: Trees of the case (never the agent's), the first wins.
    """
    for tree in case_copies:
        for name in (*PYTEST_FILES, *SHARED_FILES):
            path = tree / name
            if path.is_file() and (name in PYTEST_FILES or read_settings(path)):
                return path
    return None


def read_settings(path: Path) -> dict[str, object]:
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


def settings_findings(base: Path, tree: Path, steering: frozenset[str]) -> list[str]:
    """Say which steering settings a tree has that the base has not, one line a file."""
    findings = []
    for name in (*PYTEST_FILES, *SHARED_FILES):
        before, after = read_settings(base / name), read_settings(tree / name)
        changed = sorted(
            key
            for key in steering
            if key in after
            and before.get(key) != after[key]
            and not (key == "addopts" and _is_harmless(after[key], before.get(key)))
        )
        if changed:
            findings.append(f"the patch sets {', '.join(changed)} for pytest in {name}")
    return findings


def _is_harmless(addopts: object, before: object) -> bool:
    """Say whether a change of ``addopts`` only adds to how a run looks."""
    known = _words(before)
    return all(
        word in known or _HARMLESS_OPTION.fullmatch(word) for word in _words(addopts)
    )


def _words(addopts: object) -> list[str]:
    if isinstance(addopts, list):
        return [str(word) for word in addopts]
    return str(addopts or "").split()
