"""Taking the project out of the environment that it was installed into.

Of the project only its metadata and its scripts stay: its code is imported from where
an agent works on it. What installing made besides, compiled modules for one, is put
where it belongs in the tree.
"""

from __future__ import annotations

import ast
import csv
import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path
from pathlib import PurePosixPath
from urllib.parse import unquote
from urllib.parse import urlsplit

from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.trees import copy_tree
from pytest_codegenie.trees import remove_tree


#: What an editable installation leaves instead of the code.
_HOOK = re.compile(
    r"(__editable__.*|.*\.pth|_.*_editable.*|__editables_.*|_editable_.*)"
)


@dataclass(slots=True)
class Separated:
    """What became of the project."""

    #: Names of the distributions that came from the tree.
    names: list[str] = field(default_factory=list)
    #: Directories of the tree that modules are imported from; "" is its root.
    roots: list[str] = field(default_factory=list)


def separate(site: Path, tree: Path, generated: Path) -> Separated:
    """Take all distributions that were installed from a tree out of an environment.

    Args:
        site: The environment's ``site-packages``.
        tree: The copy of the tree that was installed from.
        generated: Gets what is in the environment and not in the tree.

    Raises:
        WorkspaceUnavailable: The project's modules have other names in the tree.
    """
    found = Separated()
    for info in sorted(site.glob("*.dist-info")):
        place = installed_from(info)
        if place is not None and place.is_relative_to(tree):
            found.names.append(info.name.partition("-")[0])
            _Distribution(site, info, tree, place).separate(generated, found.roots)
    for link in sorted(site.glob("*.egg-link")):
        _separate_egg_link(site, link, tree, found)
    found.roots += _clean_path_files(site, tree)
    found.roots = list(dict.fromkeys(found.roots))
    return found


def installed_from(info: Path) -> Path | None:
    """Return the directory that a distribution was installed from; None: an index."""
    try:
        words = json.loads((info / "direct_url.json").read_bytes())
    except (OSError, ValueError):
        return None
    url = urlsplit(words.get("url", ""))
    if url.scheme != "file" or "dir_info" not in words:
        return None
    return Path(unquote(url.path)).resolve()


@dataclass(slots=True)
class _Distribution:
    """One that was installed from a directory of the tree."""

    site: Path
    info: Path
    tree: Path
    #: Its directory.
    place: Path

    def separate(self, generated: Path, roots: list[str]) -> None:
        """Remove its code; add its roots."""
        rows = self._rows()
        code = [row[0] for row in rows if self._is_code(row[0])]
        hooks = [path for path in code if _HOOK.fullmatch(path.partition("/")[0])]
        modules = [path for path in code if path not in hooks]
        own = list(self._roots_of_hooks(hooks))
        if modules:
            own += self._move(modules, generated)
        for path in hooks:
            (self.site / path).unlink(missing_ok=True)
        roots += own
        left = set(code) | {f"{self.info.name}/direct_url.json"}
        with (self.info / "RECORD").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(row for row in rows if row[0] not in left)
        (self.info / "direct_url.json").unlink()

    def _rows(self) -> list[list[str]]:
        with (self.info / "RECORD").open(encoding="utf-8", newline="") as file:
            return [row for row in csv.reader(file) if row]

    def _is_code(self, path: str) -> bool:
        inside = not path.startswith(("..", "/"))
        return inside and path.partition("/")[0] != self.info.name

    def _roots_of_hooks(self, hooks: list[str]) -> Iterator[str]:
        """Yield what an editable installation says of where its modules are."""
        for path in hooks:
            file = self.site / path
            if path.endswith(".pth"):
                yield from _roots_of_path_file(file, self.tree)
            elif path.endswith(".py"):
                yield from _roots_of_finder(file, self.tree)

    def _move(self, modules: list[str], generated: Path) -> list[str]:
        """Remove what the tree has too, move the rest; return the roots."""
        roots = self._find_roots(modules)
        main = next(iter(roots.values()), None)
        if main is None:
            if any(path.endswith(".py") for path in modules):
                names = sorted({path.partition("/")[0] for path in modules})
                raise WorkspaceUnavailable(
                    f"the project installs {', '.join(names)}, but has nothing of that "
                    "name in its tree: what an agent changes there would not be what "
                    "is tested"
                )
            main = self.place
        for path in modules:
            root = roots.get(path.partition("/")[0], main)
            file, place = self.site / path, root / path
            if not place.exists() and not path.endswith(".pyc"):
                target = generated / place.relative_to(self.tree)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, target)
            file.unlink(missing_ok=True)
        _remove_empty(self.site, modules)
        used = roots.values() or [main]
        return [_relative(root, self.tree) for root in dict.fromkeys(used)]

    def _find_roots(self, modules: list[str]) -> dict[str, Path]:
        """Return the root of each top-level name: where most of its files are."""
        places = [self.place, self.place / "src"]
        places += [path for path in sorted(self.place.iterdir()) if path.is_dir()]
        counts: dict[str, Counter[Path]] = {}
        for path in modules:
            for root in dict.fromkeys(places):
                if (root / path).is_file():
                    top = path.partition("/")[0]
                    counts.setdefault(top, Counter())[root] += 1
        return {top: count.most_common(1)[0][0] for top, count in counts.items()}


def _separate_egg_link(site: Path, link: Path, tree: Path, found: Separated) -> None:
    """Keep the metadata of what ``setup.py develop`` installed: it is in the tree."""
    place = Path(link.read_text("utf-8").splitlines()[0].strip()).resolve()
    if not place.is_relative_to(tree):
        return
    for info in place.glob("*.egg-info"):
        if info.is_dir() and info.stem.replace("_", "-") == link.stem.replace("_", "-"):
            remove_tree(site / info.name)
            copy_tree(info, site / info.name)
    found.names.append(link.stem)
    link.unlink()


def _clean_path_files(site: Path, tree: Path) -> list[str]:
    """Remove the lines of ``.pth`` files that lead to the tree; return the roots."""
    roots = []
    for path in sorted(site.glob("*.pth")):
        own = _roots_of_path_file(path, tree)
        if own:
            roots += own
            lines = path.read_text("utf-8").splitlines(keepends=True)
            path.write_text(
                "".join(line for line in lines if _root(line, tree) is None), "utf-8"
            )
    return roots


def _roots_of_path_file(path: Path, tree: Path) -> list[str]:
    lines = path.read_text("utf-8", "replace").splitlines()
    found = [_root(line, tree) for line in lines]
    return [root for root in found if root is not None]


def _root(line: str, tree: Path) -> str | None:
    """Return a line of a ``.pth`` file as a root; None: it leads elsewhere."""
    words = line.strip()
    if not words.startswith("/"):
        return None
    place = Path(words).resolve()
    return _relative(place, tree) if place.is_relative_to(tree) else None


def _roots_of_finder(path: Path, tree: Path) -> Iterator[str]:
    """Yield the roots that setuptools' finder for an editable package knows."""
    for node in ast.parse(path.read_bytes()).body:
        target = getattr(node, "target", None) or getattr(node, "targets", [None])[0]
        if not isinstance(target, ast.Name) or target.id != "MAPPING":
            continue
        for name, place in ast.literal_eval(getattr(node, "value")).items():  # noqa: B009
            relative = PurePosixPath(*name.split("."))
            module = Path(place).resolve()
            if not module.is_relative_to(tree):
                continue
            stem = module.with_suffix("") if module.suffix == ".py" else module
            if PurePosixPath(*stem.parts[-len(relative.parts) :]) != relative:
                raise WorkspaceUnavailable(
                    f"the project installs {name!r} from {_relative(module, tree)!r}: "
                    "under another name than in its tree, so it cannot be imported "
                    "from there"
                )
            yield _relative(stem.parents[len(relative.parts) - 1], tree)


def _relative(place: Path, tree: Path) -> str:
    words = place.relative_to(tree).as_posix()
    return "" if words == "." else words


def _remove_empty(site: Path, modules: list[str]) -> None:
    """Remove the directories that are empty now."""
    parents = {parent for path in modules for parent in PurePosixPath(path).parents}
    for parent in sorted(parents, key=lambda path: -len(path.parts)):
        directory = site / parent
        if directory != site and directory.is_dir():
            remove_tree(directory / "__pycache__")
            if not any(directory.iterdir()):
                directory.rmdir()
