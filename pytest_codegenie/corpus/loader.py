"""From a bench directory to verified cases."""

from __future__ import annotations

import datetime as dt
import json
import os
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from dataclasses import replace
from enum import Enum
from pathlib import Path
from types import MappingProxyType

from pytest_codegenie.corpus.case_file import FILE_NAME
from pytest_codegenie.corpus.case_file import read_case_file
from pytest_codegenie.corpus.case_file import warn_when_stale
from pytest_codegenie.corpus.listing import differing_paths
from pytest_codegenie.corpus.sheet import FILE_NAME as SHEET_NAME
from pytest_codegenie.corpus.sheet import read_sheet
from pytest_codegenie.documents import DocumentError
from pytest_codegenie.documents import read_yaml
from pytest_codegenie.errors import BenchCaseDigestMismatch
from pytest_codegenie.errors import BenchCaseIDCollision
from pytest_codegenie.errors import BenchCaseLoadError
from pytest_codegenie.errors import TaskClassIncomplete
from pytest_codegenie.errors import TaskClassNotFound
from pytest_codegenie.errors import relative
from pytest_codegenie.hashing import PREFIX
from pytest_codegenie.hashing import TreeDigest
from pytest_codegenie.hashing import UnhashableEntryError
from pytest_codegenie.hashing import hash_bytes
from pytest_codegenie.hashing import hash_tree
from pytest_codegenie.models import BenchCase
from pytest_codegenie.registry import TaskClass
from pytest_codegenie.registry import TaskClassRegistry
from pytest_codegenie.registry import default_registry
from pytest_codegenie.task_modules import import_registration
from pytest_codegenie.task_modules import import_task_module


REGISTRATION = "registration.py"
CASES = "cases"
SEVERITIES = ("block", "warn", "info")
#: A score is made of what was observed, never of what a model says of itself.
FORBIDDEN_IN_KEYS = ("confidence", "llm", "self_reported", "model_says")
_STRAY = ("__pycache__", ".DS_Store", ".pytest_cache", ".mypy_cache", ".ruff_cache")
#: Stands for the digest of a case that has none yet.
_UNSIGNED = PREFIX + "0" * 64


def is_task_class(directory: Path) -> bool:
    """Tell whether ``directory`` holds ``registration.py`` and ``cases/``."""
    return (directory / REGISTRATION).is_file() and (directory / CASES).is_dir()


def find_task_classes(root: Path) -> list[Path]:
    """Return the task class directories at or below ``root``, sorted."""
    found = []
    for top, directories, _ in os.walk(root):
        if is_task_class(Path(top)):
            found.append(Path(top))
            directories.clear()
        directories[:] = [name for name in directories if not name.startswith(".")]
    return sorted(found)


def load_task_class(
    name: str, bench_root: Path | str, *, registry: TaskClassRegistry | None = None
) -> TaskClass:
    """Return the task class ``bench_root/name``, whole, and register it.

    Args:
        name: The directory's name.
        bench_root: The directory that holds the task classes.
        registry: Where it is registered; None: ``default_registry``.

    Raises:
        TaskClassNotFound: There is no such directory, or it registers another name.
        TaskClassIncomplete: A file of it is missing or unusable.
        TaskClassAlreadyRegistered: The name belongs to another directory's class.
    """
    registry = default_registry if registry is None else registry
    bench_root = Path(bench_root)
    directory = bench_root / name
    # Not "", ".", ".." or "a/b", which are directories too.
    if directory.name != name or name == ".." or not directory.is_dir():
        available = [path.name for path in find_task_classes(bench_root)]
        raise TaskClassNotFound(name, available, place=relative(bench_root))
    if name in registry:
        known = registry.get(name)
        if known.bench_path.resolve() == directory.resolve():
            # Who imported the registration without us has it without its files.
            whole = None not in (known.breakdown_keys, known.failure_mode_taxonomy)
            return known if whole else read_task_class(directory)
    task_class = read_task_class(directory)
    registry.register(task_class)
    return task_class


def read_task_class(directory: Path) -> TaskClass:
    """Return the task class of a directory, with keys and taxonomy filled in.

    Raises:
        TaskClassNotFound: It registers nothing, or another name.
        TaskClassIncomplete: A file of it is missing or unusable.
        TaskClassAlreadyRegistered: It registers more than one name.
    """
    directory = directory.absolute()
    if not (directory / CASES).is_dir():
        raise TaskClassIncomplete(directory.name, directory / CASES)
    registered = import_registration(directory)
    return replace(
        registered,
        bench_path=directory,
        breakdown_keys=_breakdown_keys(directory, registered.breakdown_keys),
        failure_mode_taxonomy=_taxonomy(directory, registered.failure_mode_taxonomy),
    )


def load_cases(task_class: TaskClass) -> tuple[BenchCase, ...]:
    """Return all cases of a task class, each verified, sorted by ``case_id``.

    Raises:
        BenchCaseLoadError: A case cannot be read, or ``digests.yaml`` and the
            directories do not match.
        BenchCaseDigestMismatch: A case is not what was signed.
        BenchCaseIDCollision: Two ids differ by case only.
    """
    listing = list_cases(task_class.bench_path)
    for problem in listing.problems:
        raise problem
    cases = tuple(
        load_case(directory, listing.digests) for directory in listing.directories
    )
    today = dt.datetime.now(dt.UTC).date()
    for case in cases:
        warn_when_stale(case, today)
    return cases


@dataclass(frozen=True, slots=True)
class CaseListing:
    """What ``cases/`` holds, before any case is read."""

    #: Sorted by name.
    directories: tuple[Path, ...]
    digests: Mapping[str, str]
    #: What does not match between the directories and ``digests.yaml``.
    problems: tuple[BenchCaseLoadError | BenchCaseIDCollision, ...]


def list_cases(task_class_dir: Path) -> CaseListing:
    """Compare the directories in ``cases/`` with ``digests.yaml``.

    Raises:
        BenchCaseLoadError: ``digests.yaml`` cannot be used at all.
    """
    cases_dir = task_class_dir / CASES
    directories = case_directories(cases_dir)
    digests = read_sheet(cases_dir)
    names = {path.name for path in directories}
    problems: list[BenchCaseLoadError | BenchCaseIDCollision] = [
        BenchCaseLoadError(
            cases_dir / case_id,
            SHEET_NAME,
            f"the entry {case_id!r} has no directory; restore the case, or drop the "
            f"entry: codegenie sign {relative(task_class_dir)}",
        )
        for case_id in digests
        if case_id not in names
    ]
    problems += id_collisions(directories)
    return CaseListing(directories, MappingProxyType(digests), tuple(problems))


def case_directories(cases_dir: Path) -> tuple[Path, ...]:
    """Return the directories in ``cases/``, sorted by name.

    Caches are left out, and hidden directories that hold no case (no id starts with a
    dot): those of tools, and of a case that is being made.
    """
    with os.scandir(cases_dir) as scan:
        names = sorted(
            item.name
            for item in scan
            if item.is_dir()
            and item.name not in _STRAY
            and (item.name[0] != "." or Path(item.path, FILE_NAME).exists())
        )
    return tuple(cases_dir / name for name in names)


def id_collisions(directories: Iterable[Path]) -> Iterator[BenchCaseIDCollision]:
    """Yield an error for each id that more than one directory claims."""
    by_id: dict[str, list[Path]] = {}
    for path in directories:
        by_id.setdefault(path.name.casefold(), []).append(path)
    for paths in by_id.values():
        if len(paths) > 1:
            yield BenchCaseIDCollision(paths[0].name, paths)


def load_case(
    directory: Path, digests: Mapping[str, str], computed: TreeDigest | None = None
) -> BenchCase:
    """Return one verified case.

    Args:
        directory: ``<task class>/cases/<case id>``.
        digests: The task class's signed digests.
        computed: The digest of the directory, where the caller has it already.

    Raises:
        BenchCaseLoadError: It cannot be read, or is not in ``digests``.
        BenchCaseDigestMismatch: It is not what was signed.
    """
    directory = directory.absolute()
    task_class_dir = directory.parent.parent
    expected = digests.get(directory.name)
    # An unsigned case may be wrong in other ways, which signing would only repeat.
    case = read_case_file(
        directory, task_class=task_class_dir.name, digest=expected or _UNSIGNED
    )
    if expected is None:
        raise BenchCaseLoadError(
            directory,
            SHEET_NAME,
            "the case is not signed; sign it: codegenie sign "
            f"{relative(task_class_dir)}",
        )
    computed = computed or hash_case(directory)
    if computed.digest != expected:
        raise _mismatch(directory, expected, computed, "cases/digests.yaml")
    if case.case_digest != expected:
        raise _mismatch(directory, case.case_digest, computed, FILE_NAME)
    return case


def hash_case(directory: Path) -> TreeDigest:
    """Return a case's digest.

    Raises:
        BenchCaseLoadError: An entry cannot be part of a case, or not be read.
    """
    try:
        return hash_tree(directory)
    except UnhashableEntryError as exc:
        raise BenchCaseLoadError(directory, exc.path, exc.reason) from exc
    except OSError as exc:
        place = Path(exc.filename or directory)
        raise BenchCaseLoadError(
            directory, place.name, f"cannot be read: {exc.strerror}"
        ) from exc


def hash_task_class(directory: Path) -> str:
    """Return the digest of what scores a task class: its modules and taxonomy."""
    hashed = {
        path.name: hash_bytes(path.read_bytes())
        for path in sorted(directory.iterdir())
        if path.suffix in (".py", ".yaml") and path.is_file()
    }
    return hash_bytes(json.dumps(hashed).encode())


def _mismatch(
    directory: Path, expected: str, computed: TreeDigest, source: str
) -> BenchCaseDigestMismatch:
    suspects = sorted(
        {
            entry.path
            for entry in computed.entries
            if any(part in _STRAY for part in entry.path.split("/"))
        }
    )
    return BenchCaseDigestMismatch(
        directory.name,
        expected,
        computed.digest,
        directory=directory,
        source=source,
        differs=differing_paths(directory, expected),
        suspects=tuple(suspects),
    )


def _breakdown_keys(directory: Path, given: object) -> AbstractSet[str]:
    """Check the keys of the registration; None: those of ``breakdown_keys.py``."""
    path = directory / (REGISTRATION if given is not None else "breakdown_keys.py")
    keys = _keys_in_module(directory) if given is None else given
    if isinstance(keys, str) or not isinstance(keys, Iterable):
        raise TaskClassIncomplete(
            directory.name, path, f"breakdown keys must be a list of str, got {keys!r}"
        )
    checked = set()
    for key in keys:
        fault = _key_fault(key)
        if fault:
            raise TaskClassIncomplete(directory.name, path, fault)
        checked.add(str(key.value if isinstance(key, Enum) else key))
    return frozenset(checked)


def _keys_in_module(directory: Path) -> object:
    module = import_task_module(directory, "breakdown_keys")
    keys = getattr(module, "BreakdownKey", None)
    if not (isinstance(keys, type) and issubclass(keys, Enum)):
        raise TaskClassIncomplete(
            directory.name,
            directory / "breakdown_keys.py",
            "defines no class BreakdownKey(StrEnum)",
        )
    return keys


def _key_fault(key: object) -> str:
    if not isinstance(key, str) or not key:
        return f"a breakdown key must be a non-empty str, got {key!r}"
    text = key.value if isinstance(key, Enum) else key
    for word in FORBIDDEN_IN_KEYS:
        if word in text.lower():
            return (
                f"breakdown key {text!r} contains {word!r}: a score is made of what "
                "was observed, never of what a model says of itself; rename it or "
                "measure something else"
            )
    return ""


def _taxonomy(directory: Path, given: object) -> Mapping[str, Mapping[str, str]]:
    """Check the taxonomy of the registration; None: that of ``failure_modes.yaml``."""
    path = directory / (REGISTRATION if given is not None else "failure_modes.yaml")
    taxonomy = given
    if given is None:
        try:
            taxonomy = read_yaml(path)
        except DocumentError as exc:
            raise TaskClassIncomplete(directory.name, path, exc.reason) from exc
        taxonomy = {} if taxonomy is None else taxonomy
    if not isinstance(taxonomy, Mapping):
        raise TaskClassIncomplete(
            directory.name,
            path,
            "must map failure codes to {severity: ..., description: ...}",
        )
    for code, mode in taxonomy.items():
        fault = _taxonomy_fault(code, mode)
        if fault:
            raise TaskClassIncomplete(directory.name, path, f"{code}: {fault}")
    return MappingProxyType({code: dict(mode) for code, mode in taxonomy.items()})


def _taxonomy_fault(code: object, mode: object) -> str:
    if not isinstance(code, str) or not code:
        return "a code must be a non-empty string"
    if not isinstance(mode, Mapping) or set(mode) != {"severity", "description"}:
        return "must have exactly 'severity' and 'description'"
    if mode["severity"] not in SEVERITIES:
        return (
            f"severity must be one of {', '.join(SEVERITIES)}, got {mode['severity']!r}"
        )
    if not isinstance(mode["description"], str) or not mode["description"].strip():
        return "description must be a non-empty string"
    return ""
