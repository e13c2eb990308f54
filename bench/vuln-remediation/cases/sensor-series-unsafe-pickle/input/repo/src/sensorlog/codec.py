"""Series as bytes; docs/format.md describes them."""

import pickle

from sensorlog.errors import SeriesFormatError
from sensorlog.model import Reading, Series
from sensorlog.values import check_mapping

MAGIC = b"SLOG"
HEADER_SIZE = len(MAGIC) + 2


def encode(series: Series) -> bytes:
    """Return the content of the file for a series, in the newest version.

    Raises:
        UnsupportedValue: A note or a label is of a type the format does not have.
    """
    check_mapping(series.labels, "labels")
    for number, reading in enumerate(series.readings):
        check_mapping(reading.notes, f"readings[{number}].notes")
    payload = {
        "name": series.name,
        "unit": series.unit,
        "readings": series.readings,
        "labels": series.labels,
    }
    return MAGIC + b"\x02\n" + pickle.dumps(payload, protocol=4)


def decode(data: bytes) -> Series:
    """Return the series that the content of a file stands for.

    Raises:
        SeriesFormatError: The content is not a series.
    """
    header, body = data[:HEADER_SIZE], data[HEADER_SIZE:]
    if header[:4] != MAGIC or header[5:] != b"\n":
        raise SeriesFormatError("the file does not begin as a series does")
    version = header[4]
    if version not in (1, 2):
        raise SeriesFormatError(f"version {version} is not known, 1 and 2 are")
    try:
        payload = pickle.loads(body)
        if version == 1:
            name, unit, readings = payload
            labels = {}
        else:
            name, unit = payload["name"], payload["unit"]
            readings, labels = payload["readings"], payload["labels"]
    except Exception as exc:
        raise SeriesFormatError(f"the content cannot be read: {exc}") from exc
    if not all(type(reading) is Reading for reading in readings):
        raise SeriesFormatError("there is something else among the readings")
    return Series(name, unit, readings, labels)
