"""Whether a repository is pytest's own, or that of something pytest is made of.

Such a repository's tests run with the tree's own pytest: whichever pytest were
imported before the tree is let in, it would not be the one that the patch is about.
The judged code is then part of what judges it. Planted tests, signed lines and exit
code still have to agree, but a patch that sets out to deceive has more places to do it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


#: What pytest 4.6 and later import at their start, beyond the standard library.
PYTEST_MODULES = frozenset(
    {
        "_pytest",
        "atomicwrites",
        "attr",
        "attrs",
        "exceptiongroup",
        "importlib_metadata",
        "iniconfig",
        "more_itertools",
        "packaging",
        "pluggy",
        "py",
        "pytest",
        "tomli",
        "typing_extensions",
        "wcwidth",
        "zipp",
    }
)


def pytest_in_tree(base: Path, roots: Iterable[str]) -> bool:
    """Say whether a case's own files, never the agent's, have part of pytest.

    Args:
        base: The files that the agent started from.
        roots: Directories in it that modules are imported from.
    """
    return any(
        (base / root / f"{module}.py").is_file()
        or (base / root / module / "__init__.py").is_file()
        for root in {"", *roots}
        for module in PYTEST_MODULES
    )
