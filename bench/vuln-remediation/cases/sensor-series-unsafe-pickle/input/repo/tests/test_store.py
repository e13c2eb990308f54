from pathlib import Path

import pytest

from sensorlog import (
    SensorlogError,
    Series,
    SeriesFormatError,
    SeriesNotFound,
    UnsupportedValue,
)

DATA = Path(__file__).parent / "data"


def test_what_is_saved_is_loaded(store, boiler):
    store.save(boiler)
    assert store.load("boiler") == boiler
    assert store.names() == ["boiler"]


def test_saving_again_replaces(store, boiler):
    store.save(boiler)
    store.save(Series("boiler", "K"))
    assert store.load("boiler") == Series("boiler", "K")


def test_file_of_1_x(store):
    store.write_raw("kiln", (DATA / "kiln-1.7.slog").read_bytes())
    kiln = store.load("kiln")
    assert (kiln.name, kiln.unit, kiln.labels) == ("kiln", "°C", {})
    assert [reading.value for reading in kiln.readings] == [812.5, 815.0]
    assert kiln.readings[0].notes == {"operator": "Lindqvist", "batch": 14}
    assert kiln.readings[1].quality == "ok"


def test_missing_series(store):
    with pytest.raises(SeriesNotFound, match="'boiler'"):
        store.load("boiler")


@pytest.mark.parametrize(
    "name",
    ["../boiler", "", "a b", ".hidden"],
    ids=["path", "empty", "space", "dot"],
)
def test_impossible_names(store, name):
    with pytest.raises(SensorlogError, match="name of a series"):
        store.save(Series(name, "K"))


@pytest.mark.parametrize(
    "data",
    [b"", b"SLOG", b"GIF89a\n", b"SLOG\x09\n", b"SLOG\x02\nnonsense", b"SLOG\x02\nN."],
    ids=["empty", "short", "other", "version", "nonsense", "none"],
)
def test_damaged_file(store, data):
    store.write_raw("boiler", data)
    with pytest.raises(SeriesFormatError):
        store.load("boiler")


def test_truncated_file(store, boiler):
    store.save(boiler)
    store.write_raw("boiler", store.read_raw("boiler")[:-20])
    with pytest.raises(SeriesFormatError):
        store.load("boiler")


@pytest.mark.parametrize(
    "value",
    [object(), 1j, [print], {1: {2: bytearray()}}, type("Sub", (str,), {})()],
    ids=["object", "complex", "function", "bytearray", "subclass"],
)
def test_values_the_format_does_not_have(store, value):
    with pytest.raises(UnsupportedValue, match="labels"):
        store.save(Series("boiler", "K", labels={"x": value}))
    assert store.names() == []
