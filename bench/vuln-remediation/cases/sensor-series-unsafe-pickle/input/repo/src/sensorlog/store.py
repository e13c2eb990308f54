"""A folder of series."""

import re
from pathlib import Path

from sensorlog.codec import decode, encode
from sensorlog.errors import SensorlogError, SeriesNotFound
from sensorlog.model import Series

SUFFIX = ".slog"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


class SeriesStore:
    """Keeps each series in a file of its own below one folder."""

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)
        self._folder.mkdir(parents=True, exist_ok=True)

    def names(self) -> list[str]:
        return sorted(path.stem for path in self._folder.glob(f"*{SUFFIX}"))

    def save(self, series: Series) -> None:
        """Write a series; an older one of the same name is replaced."""
        self.write_raw(series.name, encode(series))

    def load(self, name: str) -> Series:
        """Read a series.

        Raises:
            SeriesNotFound: There is none of this name.
            SeriesFormatError: Its file cannot be read.
        """
        return decode(self.read_raw(name))

    def read_raw(self, name: str) -> bytes:
        """Return the file of a series as it is."""
        path = self._path(name)
        if not path.is_file():
            raise SeriesNotFound(f"there is no series {name!r}")
        return path.read_bytes()

    def write_raw(self, name: str, data: bytes) -> None:
        """Write the file of a series; readers see the old one or the new one."""
        path = self._path(name)
        temporary = path.with_suffix(".tmp")
        temporary.write_bytes(data)
        temporary.replace(path)

    def _path(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise SensorlogError(f"{name!r} cannot be the name of a series")
        return self._folder / f"{name}{SUFFIX}"
