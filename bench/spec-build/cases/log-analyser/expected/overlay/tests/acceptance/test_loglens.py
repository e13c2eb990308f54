"""What the prompts say, from outside."""

import datetime
import io
import json
import subprocess
import sys

import pytest

from loglens.cli import main
from loglens.records import Record
from loglens.records import parse_line
from loglens.report import as_json
from loglens.report import as_text
from loglens.totals import Totals
from loglens.totals import top
from loglens.totals import worst_hour


def line(
    host="h", time="10/Oct/2025:12:00:00 +0000", request="GET / HTTP/1.1", end="200 1"
):
    return f'{host} - - [{time}] "{request}" {end}\n'


def count(*lines):
    totals = Totals()
    for one in lines:
        totals.add(parse_line(one))
    return totals


def test_a_record():
    text = '::1 - bob [01/Jan/2026:00:00:00 -0530] "POST /x?a=b?c HTTP/2" 404 -'
    record = parse_line(text)
    zone = datetime.timezone(-datetime.timedelta(hours=5, minutes=30))
    time = datetime.datetime(2026, 1, 1, tzinfo=zone)
    assert record == Record("::1", "bob", time, "POST", "/x", 404, 0)
    assert record.time.utcoffset() == zone.utcoffset(None)
    with pytest.raises(AttributeError):
        record.status = 200


def test_the_combined_format():
    assert parse_line(line(end='200 1 "-" "agent (x)"')) == parse_line(line())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        line()[2:],
        line(end="200"),
        line(end="200 x"),
        line(end="099 1"),
        line(end="600 1"),
        line(time="30/Feb/2025:12:00:00 +0000"),
        line(time="10/Oct/2025:12:00:00"),
        line(request="GET /"),
        line(request="GET / HTTP/1.1 x"),
        line(request=""),
    ],
)
def test_what_is_no_line(text):
    assert parse_line(text) is None


def test_totals():
    totals = count(line(), line(end="304 -"), line(end="500 9"), "bad", "bad")
    assert (totals.requests, totals.malformed, totals.size) == (3, 2, 10)
    assert dict(totals.classes) == {"2xx": 1, "3xx": 1, "5xx": 1}
    assert totals.error_rate == pytest.approx(1 / 3)
    assert count("bad").error_rate is None


def test_rankings():
    requests = [f"GET /{name} HTTP/1.1" for name in "bbaacd"]
    totals = count(*(line(request=request) for request in requests))
    assert top(totals.paths, 3) == [("/a", 2), ("/b", 2), ("/c", 1)]
    assert top(totals.hosts, 9) == [("h", 6)]
    with pytest.raises(ValueError):
        top(totals.paths, -1)


def test_hours_are_utc():
    totals = count(
        line(time="10/Oct/2025:00:30:00 +0100"),
        line(time="09/Oct/2025:23:59:59 +0000", end="400 1"),
        line(time="10/Oct/2025:00:00:00 +0000"),
    )
    before = datetime.datetime(2025, 10, 9, 23, tzinfo=datetime.timezone.utc)
    after = datetime.datetime(2025, 10, 10, tzinfo=datetime.timezone.utc)
    assert totals.hours == {before: [2, 1], after: [1, 0]}
    assert worst_hour(totals) == (before, 0.5)
    assert worst_hour(totals, least=3) is None
    assert worst_hour(Totals()) is None


def test_the_earliest_of_equal_hours():
    later, earlier = "11/Oct/2025:05:00:00 +0000", "10/Oct/2025:07:00:00 +0000"
    totals = count(line(time=later, end="500 1"), line(time=earlier, end="404 1"))
    assert worst_hour(totals)[0].day == 10


def test_text():
    requests = ["GET /a HTTP/1.1"] * 10 + ["GET /b HTTP/1.1"]
    totals = count(*(line(request=request) for request in requests))
    assert as_text(totals).splitlines() == [
        "requests   11",
        "malformed  0",
        "bytes      11",
        "errors     0.0%",
        "2xx        11",
        "worst hour 2025-10-10 12:00 0.0%",
        "top paths",
        "  10  /a",
        "   1  /b",
        "top hosts",
        "  11  h",
    ]
    assert "top" not in as_text(totals, number=0)
    assert "errors     -\n" in as_text(Totals())


def test_json():
    report = json.loads(as_json(count(line(end="503 7"), "bad"), number=1))
    assert report == {
        "requests": 1,
        "malformed": 1,
        "bytes": 7,
        "error_rate": 1.0,
        "classes": {"5xx": 1},
        "worst_hour": {"hour": "2025-10-10T12:00:00+00:00", "error_rate": 1.0},
        "paths": {"/": 1},
        "hosts": {"h": 1},
    }
    nothing = json.loads(as_json(Totals()))
    assert nothing["error_rate"] is None
    assert nothing["worst_hour"] is None


def test_the_command(tmp_path, capsys, monkeypatch):
    path = tmp_path / "a.log"
    path.write_bytes(line().encode() + b"\n  \n\xff\n")
    assert main([str(path), str(path), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["requests"], report["malformed"]) == (2, 2)
    assert main([str(path), "--strict"]) == 1
    assert capsys.readouterr().out.startswith("requests   1\n")
    monkeypatch.setattr(sys, "stdin", io.StringIO(line()))
    assert main(["--strict", "--top", "1"]) == 0
    assert capsys.readouterr().out.startswith("requests   1\n")


def test_what_the_command_refuses(tmp_path, capsys):
    path = tmp_path / "a.log"
    path.write_text(line())
    assert main([str(path), str(tmp_path / "none.log")]) == 2
    assert capsys.readouterr().out == ""
    with pytest.raises(SystemExit) as caught:
        main(["--top", "-1", str(path)])
    assert caught.value.code == 2


def test_the_module_starts():
    done = subprocess.run(
        [sys.executable, "-m", "loglens", "--strict"],
        input=line().encode(),
        capture_output=True,
        cwd="src",
        check=True,
    )
    assert done.stdout.startswith(b"requests   1\n")
