"""The shelf: a directory with one sub-directory for each theme."""

import shutil
from pathlib import Path

from themeshelf import manifest
from themeshelf.bundle import Bundle
from themeshelf.errors import ThemeExists, ThemeNotFound


class Shelf:
    """The themes below ``directory``, which is made when it is first needed."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def install(self, bundle_path: Path, *, replace: bool = False) -> manifest.Theme:
        """Unpack a bundle.

        Raises:
            BundleError: The bundle is not in order. Nothing was changed.
            ThemeExists: A theme of this name is there, and ``replace`` is not set.
        """
        with Bundle(bundle_path) as bundle:
            target = self._directory / bundle.theme.name
            if target.exists():
                if not replace:
                    raise ThemeExists(f"{bundle.theme.name!r} is installed already")
                shutil.rmtree(target)
            bundle.unpack(target)
            return bundle.theme

    def themes(self) -> list[manifest.Theme]:
        """Return what is installed, by name."""
        manifests = sorted(self._directory.glob(f"*/{manifest.FILE_NAME}"))
        return [manifest.parse_manifest(path.read_bytes()) for path in manifests]

    def remove(self, name: str) -> None:
        """Delete a theme.

        Raises:
            ThemeNotFound: There is none of this name.
        """
        if name not in {theme.name for theme in self.themes()}:
            raise ThemeNotFound(f"{name!r} is not installed")
        shutil.rmtree(self._directory / name)
