"""Every file that a release has written still opens, with the same content."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import pytest

from sensorlog import Reading, Series, SeriesStore, export_archive, import_archive

DATA = Path(__file__).parent / "data"
CET = timezone(timedelta(hours=1), "CET")
ID = UUID("6ba7b810-9dad-11d1-80b4-00c04fd430c8")
EVERYTHING = {
    "none": None,
    "flag": True,
    "count": -3,
    "big": 2**80,
    "ratio": 0.1,
    "text": "größer\n",
    "raw": bytes(range(256)),
    "no raw": b"",
    "list": [1, [2, "x"], []],
    "pair": (1, "a"),
    "triple": (1, 2, 3, 4),
    "empty": (),
    "map": {1: "one", (2, 3): b"\x80", None: {}},
    "set": {1, "a", (2, 3)},
    "no set": set(),
    "frozen": frozenset({Decimal("1.5"), b"k"}),
    "no frozen": frozenset(),
    "money": Decimal("-12.50"),
    "id": ID,
    "day": date(2015, 2, 28),
    "time": datetime(2015, 2, 28, 23, 59, 58, 999999),
    "zoned": datetime(2015, 7, 1, 12, tzinfo=CET),
    "utc": datetime(2015, 7, 1, 12, tzinfo=UTC),
    "wait": timedelta(days=-1, microseconds=7),
    "zone": timezone(timedelta(hours=-5, minutes=-30)),
}


def assert_same(found, expected):
    """Equal, and of the same types."""
    assert list(found) == list(expected)
    for key, value in expected.items():
        assert found[key] == value, key
        assert type(found[key]) is type(value), key
    assert repr(found["list"]) == repr(expected["list"])
    assert repr(found["map"]) == repr(expected["map"])
    assert found["zoned"].tzname() == "CET"
    assert str(found["money"]) == "-12.50"
    assert sorted(map(type, found["set"]), key=repr) == [int, str, tuple]
    assert {type(item) for item in found["frozen"]} == {Decimal, bytes}


@pytest.fixture
def load(store):
    def load(file_name):
        name = file_name.split("-")[0]
        store.write_raw(name, (DATA / file_name).read_bytes())
        return store.load(name)

    return load


def test_every_kind_of_value_in_a_file_of_1_x(load):
    series = load("everything-1.9.slog")
    assert (series.name, series.unit, series.labels) == ("everything", "V", {})
    first, second = series.readings
    assert type(first) is Reading
    assert (first.sensor, first.value, first.quality) == ("e-1", 1, "ok")
    assert first.at == datetime(2015, 7, 1, 12, tzinfo=CET)
    assert_same(first.notes, EVERYTHING)
    assert second.value == float("inf")
    assert second.notes == {"deep": [{"deeper": ({ID},)}]}


def test_every_kind_of_value_in_a_file_of_2_x(load):
    series = load("everything-2.2.slog")
    (reading,) = series.readings
    assert type(reading) is Reading
    assert reading.quality == "recalibrated"
    assert_same(reading.notes, EVERYTHING)
    assert_same(series.labels, EVERYTHING)


def test_file_of_2_0_that_names_the_old_place_of_reading(load):
    series = load("early-2.0.slog")
    (reading,) = series.readings
    assert type(reading) is Reading
    assert (reading.value, reading.notes) == (2.5, {"by": "hand"})
    assert series.labels == {"site": "plant 1"}


def test_old_archive_with_files_of_both_versions(store):
    assert import_archive(store, DATA / "plant-2.1.slogs") == ["kiln", "early"]
    assert store.load("kiln").readings[1].value == 815.0
    assert store.load("early").unit == "A"
    assert store.read_raw("kiln") == (DATA / "kiln-1.7.slog").read_bytes()


def test_old_readings_can_be_saved_again(load, store):
    series = load("everything-1.9.slog")
    store.save(series)
    again = store.load("everything")
    assert again.readings[0].at == series.readings[0].at
    assert_same(again.readings[0].notes, EVERYTHING)
    assert again.readings[0].quality == "ok"


def test_every_kind_of_value_in_a_new_file(store):
    reading = Reading("n-1", datetime(2026, 1, 1, tzinfo=CET), 1.5, EVERYTHING)
    store.save(Series("new", "V", [reading], EVERYTHING))
    series = store.load("new")
    assert series.readings == [reading]
    assert type(series.readings[0]) is Reading
    assert_same(series.readings[0].notes, EVERYTHING)
    assert_same(series.labels, EVERYTHING)


def test_types_within_types_in_a_new_file(store):
    labels = {"deep": [{(1, True): {frozenset({(Decimal("1.0"), ID)})}}, (b"", [()])]}
    store.save(Series("new", "V", [], labels))
    assert store.load("new").labels == labels
    assert repr(store.load("new").labels) == repr(labels)


def test_text_that_looks_like_code(store):
    labels = {"text": "cos\nsystem\n(S'true'\ntR.", "os": "posix", "eval": b"eval"}
    store.save(Series("new", "V", [], labels))
    assert store.load("new").labels == labels


def test_new_series_through_an_archive(store, boiler, tmp_path):
    store.save(boiler)
    path = tmp_path / "plant.slogs"
    created = datetime(2026, 4, 1, tzinfo=CET)
    export_archive(store, ["boiler"], path, created=created)
    other = SeriesStore(tmp_path / "other")
    import_archive(other, path)
    assert other.load("boiler") == boiler


def test_empty_archive(store, tmp_path):
    path = tmp_path / "nothing.slogs"
    export_archive(store, [], path, created=datetime(2026, 4, 1))
    assert import_archive(store, path) == []
