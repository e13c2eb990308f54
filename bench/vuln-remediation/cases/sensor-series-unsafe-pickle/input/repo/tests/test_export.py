from sensorlog import Series, append_line, summarise, write_csv


def test_csv(boiler, tmp_path):
    write_csv(boiler, tmp_path / "boiler.csv")
    lines = (tmp_path / "boiler.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "sensor,at,value [°C],quality"
    assert lines[3] == "b-2,2026-03-01T08:00:00+00:00,-9.0,probe loose"


def test_protocol(tmp_path):
    append_line(tmp_path / "log.txt", "boiler exported")
    append_line(tmp_path / "log.txt", "attic exported")
    text = (tmp_path / "log.txt").read_text(encoding="utf-8")
    assert text == "boiler exported\nattic exported\n"


def test_summary_leaves_doubtful_readings_out(boiler):
    summary = summarise(boiler)
    assert (summary.count, summary.doubtful) == (2, 1)
    assert (summary.low, summary.high, summary.mean) == (71.5, 73.0, 72.25)


def test_summary_of_nothing():
    assert summarise(Series("attic", "K")).mean is None
