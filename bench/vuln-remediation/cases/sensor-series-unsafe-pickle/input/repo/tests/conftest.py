from datetime import UTC, datetime

import pytest

from sensorlog import Reading, Series, SeriesStore


@pytest.fixture
def store(tmp_path):
    return SeriesStore(tmp_path / "store")


@pytest.fixture
def boiler():
    start = datetime(2026, 3, 1, 6, 0, tzinfo=UTC)
    return Series(
        name="boiler",
        unit="°C",
        readings=[
            Reading("b-1", start, 71.5, {"operator": "Okafor"}),
            Reading("b-1", start.replace(hour=7), 73.0),
            Reading("b-2", start.replace(hour=8), -9.0, {}, "probe loose"),
        ],
        labels={"site": "plant 2", "floors": [1, 2]},
    )
