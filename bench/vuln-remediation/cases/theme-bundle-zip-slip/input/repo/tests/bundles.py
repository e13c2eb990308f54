"""Bundles for the tests."""

import json
import tempfile
import unittest
import zipfile
from pathlib import Path

NORD = {
    "nord-1.4/theme.json": json.dumps({"name": "nord", "version": "1.4"}),
    "nord-1.4/layout.html": "<main></main>",
    "nord-1.4/assets/nord.css": "main { color: navy }",
}


class BundleTestCase(unittest.TestCase):
    """Has a site in a directory of its own, with an empty shelf of themes."""

    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = Path(directory.name)
        self.shelf_directory = self.root / "srv" / "www" / "site" / "themes"
        self.shelf_directory.mkdir(parents=True)

    def bundle(self, members: dict[str, str], name: str = "bundle.zip") -> Path:
        """Write a ZIP archive; a name that ends in "/" makes a directory."""
        path = self.root / name
        with zipfile.ZipFile(path, "w") as archive:
            for member, content in members.items():
                archive.writestr(member, content)
        return path

    def installed(self) -> list[str]:
        """Return all files on the shelf."""
        return sorted(
            path.relative_to(self.shelf_directory).as_posix()
            for path in self.shelf_directory.rglob("*")
            if path.is_file()
        )
