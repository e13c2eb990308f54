import io

import pytest

from stewards import OwnersFileError, Stewardship, summarise
from stewards.cli import main

OWNERS = """\
# who looks after what

*.py            @python-core
/src/http/      @net-team jo.doe@acme.example
**/test_*       @acme/quality
with\\ space     @a1-b2
"""


@pytest.fixture
def stewardship():
    return Stewardship.parse(OWNERS)


@pytest.mark.parametrize(
    ("path", "owners"),
    [
        ("setup.py", ("@python-core",)),
        ("src/http/retry.py", ("@net-team", "jo.doe@acme.example")),
        ("src/http/test_retry.py", ("@acme/quality",)),
        ("with space", ("@a1-b2",)),
        ("LICENSE", ()),
    ],
)
def test_last_match_wins(stewardship, path, owners):
    assert stewardship.owners_of(path) == owners


@pytest.mark.parametrize(
    "line",
    ["*.py", "*.py python-core", "*.py @", "*.py @A", "*.py @a/b/c", "a** @a", "x a@b"],
)
def test_line_that_cannot_be_read(line):
    with pytest.raises(OwnersFileError, match="line 2: ") as caught:
        Stewardship.parse(f"ok @ok\n{line}\n")
    assert caught.value.line_number == 2


def test_report(stewardship):
    report = summarise(stewardship, ["a.py", "b.py", "src/http/x", "LICENSE"])
    assert report.lines() == [
        "@net-team: 1 file",
        "@python-core: 2 files",
        "jo.doe@acme.example: 1 file",
        "nobody: LICENSE",
    ]


def test_command_line(tmp_path, monkeypatch, capsys):
    owners_file = tmp_path / "OWNERS"
    owners_file.write_text(OWNERS)
    monkeypatch.setattr("sys.stdin", io.StringIO("a.py\nb.py\n"))
    assert main([str(owners_file)]) == 0
    assert capsys.readouterr().out == "@python-core: 2 files\n"
