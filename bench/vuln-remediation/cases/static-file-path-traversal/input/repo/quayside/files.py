"""Files below a folder, addressed by the path of a URL."""

from pathlib import Path

INDEX_NAME = "index.html"


class FileTree:
    """The files below one folder.

    Nothing is remembered between calls: files and links may change while the
    server runs.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def find(self, url_path: str) -> Path | None:
        """Return the file that a URL path stands for.

        Args:
            url_path: Decoded path of the URL, with or without its first slash.

        Returns:
            The file, for a folder the index page in it, or None if there is
            no such file.
        """
        path = self._locate(url_path)
        if path.is_dir():
            path = path / INDEX_NAME
        return path if path.is_file() else None

    def is_folder(self, url_path: str) -> bool:
        """Whether a URL path stands for a folder that has an index page."""
        return (self._locate(url_path) / INDEX_NAME).is_file()

    def _locate(self, url_path: str) -> Path:
        return self.root / url_path.removeprefix("/")
