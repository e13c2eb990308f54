"""Series for other programs."""

import csv
from pathlib import Path

from sensorlog.model import Series


def write_csv(series: Series, path: str | Path) -> None:
    """Write the readings as CSV, without their notes."""
    with Path(path).open("w", encoding="utf-8", newline="") as handle:
        writer = csv.writer(handle)
        writer.writerow(["sensor", "at", f"value [{series.unit}]", "quality"])
        for reading in series.readings:
            at = reading.at.isoformat()
            writer.writerow([reading.sensor, at, reading.value, reading.quality])


def append_line(path: str | Path, text: str) -> None:
    """Append a line to a text file, for a protocol of what was exported when."""
    with Path(path).open("a", encoding="utf-8") as handle:
        handle.write(f"{text}\n")
