"""What operators have in their commands, and customers in their names."""

import json

import pytest

from labelpress import LabelDesk, PrintFailed, load_printers, parse_order


def print_with(spool_dir, command, *, recipient="Jane Doe", options=None, copies=1):
    printers = load_printers(
        f"[printer p]\ncommand = {command}\noptions = media darkness finish\n"
    )
    document = {
        "id": "B-7",
        "recipient": recipient,
        "address": ["1 High Street", "York"],
        "copies": copies,
        "options": options or {},
    }
    return LabelDesk(printers, spool_dir).print_order(
        parse_order(json.dumps(document)), printer="p"
    )


@pytest.mark.parametrize(
    "recipient",
    [
        "Jane Doe",
        "O'Neil & Sons",
        'The "Corner" Shop',
        "Fish | Chips; Peas",
        "  two  spaces  ",
        "*",
        "~",
        "#1 <Fans>",
        "Zo\u00eb \u6771\u4eac",
        "-n",
        "{title} {path}",
        "100%",
    ],
    ids=[
        "plain",
        "single-quote",
        "double-quotes",
        "separators",
        "spaces",
        "glob",
        "tilde",
        "redirections",
        "unicode",
        "dash",
        "braces",
        "percent",
    ],
)
def test_name_is_handed_over_as_typed(tmp_path, recipient):
    job = print_with(tmp_path, "printf '<%s>' {title} < {path}", recipient=recipient)
    assert job.output == f"<{recipient} #B-7>"


def test_options_are_two_words_each(tmp_path):
    options = {"media": "a6", "finish": "matt", "darkness": "12"}
    job = print_with(
        tmp_path, "printf '<%s>' {options} {copies} < {path}", options=options, copies=4
    )
    assert job.output == "<-o><darkness=12><-o><finish=matt><-o><media=a6><4>"


def test_no_options_are_no_words(tmp_path):
    job = print_with(tmp_path, "printf '<%s>' a {options} b < {path}")
    assert job.output == "<a><b>"


def test_pipeline_and_redirection(tmp_path):
    command = "cat {path} | tr a-z A-Z > copy && printf '%s' {title} >> log; cat log"
    (tmp_path / "log").write_text("log: ")
    job = print_with(tmp_path, command)
    assert job.output == "log: Jane Doe #B-7"
    assert "JANE DOE" in (tmp_path / "copy").read_text()


def test_environment_of_the_operator(tmp_path, monkeypatch):
    monkeypatch.setenv("DEPOT", "leeds")
    command = 'printf "<%s>" "$DEPOT-1" $(echo {copies}) < {path}'
    job = print_with(tmp_path, command)
    assert job.output == "<leeds-1><1>"


def test_spool_directory_with_odd_characters(tmp_path):
    spool_dir = tmp_path / 'it\'s a "spool" & more'
    spool_dir.mkdir()
    job = print_with(spool_dir, "cat {path}; pwd")
    assert job.output.startswith("^XA^CI28\n")
    assert job.output.strip().endswith(spool_dir.name)


def test_failure_of_the_command(tmp_path):
    with pytest.raises(PrintFailed, match="jammed"):
        print_with(tmp_path, "cat {path} > /dev/null; echo jammed >&2; exit 3")
