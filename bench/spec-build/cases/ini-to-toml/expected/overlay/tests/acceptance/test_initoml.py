"""What the prompts say, from outside."""

import io
import subprocess
import sys
import tomllib

import pytest

from initoml.cli import main
from initoml.parser import IniError
from initoml.parser import parse_ini
from initoml.values import convert
from initoml.values import convert_all
from initoml.writer import to_toml


def test_the_first_separator_parts_key_and_value():
    text = "  a b : c = d\n[ s t ]\nurl = http://x/\nempty=\n"
    assert parse_ini(text) == {
        "": {"a b": "c = d"},
        "s t": {"url": "http://x/", "empty": ""},
    }


def test_order_and_comments():
    parsed = parse_ini("# x\n[z]\nb=1 ; no comment\n;y\na=2\n\n[a]\n")
    assert list(parsed) == ["z", "a"]
    assert list(parsed["z"].items()) == [("b", "1 ; no comment"), ("a", "2")]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[open", 1),
        ("a=1\n[ ]", 2),
        ("\n\nno separator", 3),
        ("[s]\n : v", 2),
        ("[s]\na=1\nA=1\na=2", 4),
        ("[s]\n[t]\n[ s ]", 3),
    ],
)
def test_errors_name_the_line(text, line):
    with pytest.raises(IniError) as caught:
        parse_ini(text)
    assert caught.value.line == line
    assert str(caught.value).startswith(f"line {line}: ")
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("'true'", "true"),
        ("''", ""),
        ("'", "'"),
        ("YES", True),
        ("off", False),
        ("+12", 12),
        ("-0", 0),
        ("00", "00"),
        ("0.5", 0.5),
        (".5", ".5"),
        ("-1e-2", -0.01),
        ("1.5E3", 1500.0),
        ("0x10", "0x10"),
        ("[ ]", []),
        ("[1, 'a,b', [x]", [1, "a,b", "[x"]),
        ("[on,]", [True]),
    ],
)
def test_values(text, value):
    assert convert(text) == value
    assert type(convert(text)) is type(value)


def test_all_values():
    assert convert_all({"s": {"a": "1", "b": "x"}}) == {"s": {"a": 1, "b": "x"}}


def test_the_layout():
    sections = {"b": {"x": 1}, "": {"t": "v"}, "a.c": {"y": [True, "z"]}}
    assert to_toml(sections) == 't = "v"\n\n[b]\nx = 1\n\n[a.c]\ny = [true, "z"]\n'
    assert to_toml({}) == ""


@pytest.mark.parametrize(
    "value",
    [
        "".join(map(chr, range(128))),
        "\u2028ü\U0001f600",
        float("inf"),
        float("-inf"),
        1e-7,
        [[1, [2.5]], ["\\"]],
        -(10**12),
    ],
)
def test_any_value_is_read_again(value):
    assert tomllib.loads(to_toml({"s": {"k": value}}))["s"]["k"] == value


def test_any_name_is_read_again():
    keys = {"a.b": 1, "": 2, 'q"': 3, "ü": 4, "ok_-9": 5}
    assert tomllib.loads(to_toml({"x y.z": keys})) == {"x y": {"z": keys}}
    assert "ok_-9 = 5" in to_toml({"s": keys})


def test_the_command(tmp_path, capsys, monkeypatch):
    path, out = tmp_path / "x.ini", tmp_path / "x.toml"
    path.write_text("[s]\nk = yes\n")
    assert main([str(path)]) == 0
    assert capsys.readouterr().out == "[s]\nk = true\n"
    assert main([str(path), "--check", "-o", str(out)]) == 0
    assert not out.exists()
    assert main([str(path), "-o", str(out)]) == 0
    assert out.read_text() == "[s]\nk = true\n"
    monkeypatch.setattr(sys, "stdin", io.StringIO("a = 1\n"))
    assert main(["-"]) == 0
    assert capsys.readouterr().out == "a = 1\n"


def test_what_the_command_refuses(tmp_path, capsys):
    path = tmp_path / "x.ini"
    for data, word in (
        (b"a=1\n[s\n", "line 2"),
        (b"\xff\xfe", ""),
        (b"[a]\nb=1\n[a.b]\n", ""),
    ):
        path.write_bytes(data)
        assert main([str(path)]) == 1
        captured = capsys.readouterr()
        assert captured.out == ""
        assert "x.ini" in captured.err
        assert word in captured.err
    assert main([str(tmp_path / "none")]) == 2


def test_the_module_starts(tmp_path):
    path = tmp_path / "x.ini"
    path.write_text("a = 1\n")
    done = subprocess.run(
        [sys.executable, "-m", "initoml", str(path)],
        capture_output=True,
        cwd="src",
        check=True,
    )
    assert done.stdout == b"a = 1\n"
