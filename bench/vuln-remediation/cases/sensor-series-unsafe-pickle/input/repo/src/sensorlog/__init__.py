"""Series of sensor readings in files."""

from sensorlog.archive import export_archive, import_archive
from sensorlog.errors import (
    SensorlogError,
    SeriesFormatError,
    SeriesNotFound,
    UnsupportedValue,
)
from sensorlog.export import append_line, write_csv
from sensorlog.model import Reading, Series
from sensorlog.stats import Summary, summarise
from sensorlog.store import SeriesStore

__all__ = [
    "Reading",
    "SensorlogError",
    "Series",
    "SeriesFormatError",
    "SeriesNotFound",
    "SeriesStore",
    "Summary",
    "UnsupportedValue",
    "append_line",
    "export_archive",
    "import_archive",
    "summarise",
    "write_csv",
]
