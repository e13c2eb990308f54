"""Several series in one file, to move them between machines."""

import io
import pickle
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from sensorlog.codec import decode
from sensorlog.errors import SeriesFormatError
from sensorlog.store import SeriesStore

MAGIC = b"SLOGS1\n"


def export_archive(
    store: SeriesStore, names: Iterable[str], path: str | Path, *, created: datetime
) -> None:
    """Write an archive of some series of a store.

    The series files go into it byte for byte, so that their checksums stay.

    Raises:
        SeriesNotFound: The store lacks one of the names.
    """
    contents = {name: store.read_raw(name) for name in names}
    entries = [(name, len(data)) for name, data in contents.items()]
    manifest = pickle.dumps({"created": created, "entries": entries}, protocol=4)
    Path(path).write_bytes(MAGIC + manifest + b"".join(contents.values()))


def import_archive(store: SeriesStore, path: str | Path) -> list[str]:
    """Bring the series of an archive into a store, all or none.

    Returns:
        Their names, in the order of the archive.

    Raises:
        SeriesFormatError: The archive, or a series in it, cannot be read.
    """
    stream = io.BytesIO(Path(path).read_bytes())
    if stream.read(len(MAGIC)) != MAGIC:
        raise SeriesFormatError("the file does not begin as an archive does")
    try:
        entries = [(str(n), int(size)) for n, size in pickle.load(stream)["entries"]]
    except Exception as exc:
        raise SeriesFormatError(f"the manifest cannot be read: {exc}") from exc

    contents = {}
    for name, size in entries:
        data = stream.read(size)
        if len(data) != size:
            raise SeriesFormatError(f"the archive ends within {name!r}")
        if decode(data).name != name:
            raise SeriesFormatError(f"the entry {name!r} holds another series")
        contents[name] = data
    for name, data in contents.items():
        store.write_raw(name, data)
    return list(contents)
