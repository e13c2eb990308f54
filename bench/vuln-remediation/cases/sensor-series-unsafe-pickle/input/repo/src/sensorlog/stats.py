"""A first look at a series."""

from dataclasses import dataclass
from statistics import fmean

from sensorlog.model import Series


@dataclass(frozen=True)
class Summary:
    """Figures of the readings that are in order."""

    count: int
    doubtful: int
    low: float | None
    high: float | None
    mean: float | None


def summarise(series: Series) -> Summary:
    """Sum up a series; the figures are None where no reading is in order."""
    values = [r.value for r in series.readings if r.quality == "ok"]
    doubtful = len(series.readings) - len(values)
    if not values:
        return Summary(0, doubtful, None, None, None)
    return Summary(len(values), doubtful, min(values), max(values), fmean(values))
