"""Bundles: theme archives that have been looked at but not yet unpacked."""

import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from types import TracebackType

from themeshelf import manifest
from themeshelf.errors import BundleError

MAX_FILES = 2_000
MAX_TOTAL_BYTES = 64 * 1024 * 1024


class Bundle:
    """An open bundle. Use it in a ``with`` statement.

    Raises:
        BundleError: The file is not a ZIP archive, or its contents are not in order.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._archive = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, OSError) as error:
            raise BundleError(f"{path.name} cannot be opened: {error}") from error
        try:
            self._members = dict(self._find_members())
            self._check_size()
            self.theme = self._read_manifest()
        except BaseException:
            self._archive.close()
            raise

    def __enter__(self) -> "Bundle":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._archive.close()

    @property
    def files(self) -> list[str]:
        """The files, relative to the theme's directory, sorted."""
        return sorted(str(path) for path in self._members)

    def unpack(self, directory: Path) -> None:
        """Write all files below ``directory``."""
        for path, info in self._members.items():
            target = directory / path
            target.parent.mkdir(parents=True, exist_ok=True)
            with self._archive.open(info) as source, target.open("wb") as sink:
                shutil.copyfileobj(source, sink)

    def _find_members(self) -> Iterator[tuple[PurePosixPath, zipfile.ZipInfo]]:
        """Yield each file's path without the top-level directory, and its entry."""
        top_levels = set()
        seen = set()
        for info in self._archive.infolist():
            parts = PurePosixPath(info.filename).parts
            if not parts:
                raise BundleError("an entry has no name")
            top_level, *rest = parts
            top_levels.add(top_level)
            if info.is_dir():
                continue
            if not rest:
                raise BundleError(f"{info.filename!r} is not in a directory")
            path = PurePosixPath(*rest)
            if path in seen:
                raise BundleError(f"{info.filename!r} is in the bundle twice")
            seen.add(path)
            yield path, info
        if len(top_levels) > 1:
            names = ", ".join(sorted(top_levels))
            raise BundleError(f"more than one top-level directory: {names}")

    def _check_size(self) -> None:
        if len(self._members) > MAX_FILES:
            raise BundleError(f"more than {MAX_FILES} files")
        total = sum(info.file_size for info in self._members.values())
        if total > MAX_TOTAL_BYTES:
            raise BundleError(f"{total} bytes, more than {MAX_TOTAL_BYTES}")

    def _read_manifest(self) -> manifest.Theme:
        info = self._members.get(PurePosixPath(manifest.FILE_NAME))
        if info is None:
            raise BundleError(f"there is no {manifest.FILE_NAME}")
        return manifest.parse_manifest(self._archive.read(info))
