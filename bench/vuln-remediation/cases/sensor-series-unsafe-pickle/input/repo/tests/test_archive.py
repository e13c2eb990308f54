from datetime import UTC, datetime

import pytest

from sensorlog import (
    Series,
    SeriesFormatError,
    SeriesNotFound,
    SeriesStore,
    export_archive,
    import_archive,
)

CREATED = datetime(2026, 4, 1, tzinfo=UTC)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "plant.slogs"


@pytest.fixture
def other(tmp_path):
    return SeriesStore(tmp_path / "other")


@pytest.fixture
def archive(store, boiler, path):
    store.save(boiler)
    store.save(Series("attic", "K"))
    export_archive(store, ["boiler", "attic"], path, created=CREATED)
    return path


def test_series_travel_byte_for_byte(store, other, archive):
    assert import_archive(other, archive) == ["boiler", "attic"]
    for name in ("boiler", "attic"):
        assert other.read_raw(name) == store.read_raw(name)


def test_export_of_a_missing_series(store, path):
    with pytest.raises(SeriesNotFound):
        export_archive(store, ["boiler"], path, created=CREATED)
    assert not path.exists()


def test_archive_cut_short_brings_nothing(other, archive):
    archive.write_bytes(archive.read_bytes()[:-1])
    with pytest.raises(SeriesFormatError, match="'attic'"):
        import_archive(other, archive)
    assert other.names() == []


def test_not_an_archive(other, path):
    for data in (b"", b"SLOGS1\n", b"SLOGS1\nN.", b"PK\x03\x04"):
        path.write_bytes(data)
        with pytest.raises(SeriesFormatError):
            import_archive(other, path)
