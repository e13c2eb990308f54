"""What a series is made of."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True)
class Reading:
    """One value that a sensor gave.

    Attributes:
        sensor: Identifier of the sensor.
        at: Time of the reading.
        value: The value, in the unit of the series.
        notes: Whatever else is known; see docs/format.md for the types.
        quality: ``"ok"``, or why the value is in doubt.
    """

    sensor: str
    at: datetime
    value: float
    notes: dict[str, Any] = field(default_factory=dict)
    quality: str = "ok"


@dataclass(frozen=True)
class Series:
    """Readings of one quantity, in the order in which they were added."""

    name: str
    unit: str
    readings: list[Reading] = field(default_factory=list)
    labels: dict[str, Any] = field(default_factory=dict)
