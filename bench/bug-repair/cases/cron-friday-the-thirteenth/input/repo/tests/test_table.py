from datetime import datetime

import pytest

from tickplan import TableError, agenda, read_table
from tickplan.cli import main

TABLE = """\
# minute hour day month weekday   job
0 7 1-7 * * only=mon              first-monday

0 12 * * * until=2026-02-02       lunch
"""


def test_the_agenda_of_a_month():
    runs = agenda(read_table(TABLE), datetime.fromisoformat("2026-02-01"), 28)
    assert [str(run) for run in runs] == [
        "2026-02-01 12:00  lunch",
        "2026-02-02 07:00  first-monday",
        "2026-02-02 12:00  lunch",
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("0 7 * * *", "line 1: the name of the job is missing"),
        ("0 7 * * * when=mon job", "line 1: 'when=mon' is not an option"),
        ("0 25 * * * job", "line 1: hour: 25"),
    ],
)
def test_what_is_no_job(line, reason):
    with pytest.raises(TableError, match=reason):
        read_table(line)


def test_the_command(tmp_path, capsys):
    table = tmp_path / "jobs.tab"
    table.write_text("0 0 1 * *  rent\n")
    assert main(["agenda", str(table), "--from", "2026-01-15", "--days", "30"]) == 0
    assert capsys.readouterr().out == "2026-02-01 00:00  rent\n"
