import pytest

from logsift import Condition, matches
from logsift.cli import main

LOG = """\
level=info msg="listening on :8080"
level=error msg="upstream timed out" status=504
level=error msg=refused status=403
"""


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "access.log"
    path.write_text(LOG, encoding="utf-8")
    return str(path)


def test_where_and_fields(log, capsys):
    assert main(["--where", "level=error", "--fields", "msg,status", log]) == 0
    assert capsys.readouterr().out.splitlines() == [
        'msg="upstream timed out" status=504',
        "msg=refused status=403",
    ]


def test_where_not(log, capsys):
    main(["--where", "level=error", "--where", "status!=504", log])
    assert capsys.readouterr().out == "level=error msg=refused status=403\n"


def test_condition_wants_a_key():
    with pytest.raises(ValueError, match="expected key=value"):
        Condition.parse("=1")


def test_flag_is_no_text():
    assert not matches({"tls": True}, [Condition("tls", "True")])
