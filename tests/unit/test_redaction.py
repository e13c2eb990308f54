"""What counts as a secret, and what is left where one stood."""

from __future__ import annotations

import base64
import itertools
import json
import urllib.parse
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_codegenie.models import AgentOutput
from pytest_codegenie.processes.descendants import Output
from pytest_codegenie.processes.descendants import Redaction
from pytest_codegenie.redaction import MARK
from pytest_codegenie.redaction import Redactor
from pytest_codegenie.redaction import find_secrets
from pytest_codegenie.redaction import secrets_in_file


SECRET = "sk-93c1f07d5e2a4b86"


@pytest.mark.parametrize(
    "name",
    [
        "ANTHROPIC_API_KEY",
        "GITHUB_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "DB_PASSWORD",
        "MY_KEYS",
        "apikey",
        "HTTP_AUTH",
        "GH_PAT",
        "SENTRY_DSN",
    ],
)
def test_a_variable_that_looks_like_a_key_is_secret(name: str) -> None:
    assert find_secrets({name: SECRET}) == (SECRET,)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PATH", "/usr/bin:/usr/sbin"),
        ("PWD", "/somewhere/deep"),
        ("KEYBOARD_LAYOUT", "de-latin1"),
        ("API_KEY", "short"),
        ("MAX_OUTPUT_TOKENS", "100000000"),
        ("SSH_KEY", "/etc/passwd"),
        ("PATTERN", "something"),
    ],
)
def test_what_only_resembles_a_key_is_not(name: str, value: str) -> None:
    assert find_secrets({name: value}) == ()


def test_a_listed_variable_is_secret_whatever_it_is_called() -> None:
    environment = {"FLAVOUR": "vanilla-and-more", "OTHER": "strawberry"}
    assert find_secrets(environment, named=["FLAVOUR"]) == ("vanilla-and-more",)


@pytest.mark.parametrize(
    "spelling",
    [
        'a"key\\with/all+of it',
        json.dumps('a"key\\with/all+of it'),
        urllib.parse.quote('a"key\\with/all+of it', safe=""),
        base64.b64encode(b'a"key\\with/all+of it').decode(),
    ],
)
def test_all_usual_spellings_go(spelling: str) -> None:
    redactor = Redactor(['a"key\\with/all+of it'])
    assert MARK in redactor.text(f"before {spelling} after")
    assert "key" not in redactor.text(f"before {spelling} after")


def test_a_secret_that_holds_another_goes_whole() -> None:
    redactor = Redactor(["abcdefgh", "abcdefgh-ijkl"])
    assert redactor.text("x abcdefgh-ijkl abcdefgh") == f"x {MARK} {MARK}"


def test_a_record_is_the_same_without_secrets_and_clean_with_them() -> None:
    output = AgentOutput(instance_id="a", agent_name="b", stdout="nothing")
    redactor = Redactor([SECRET])
    assert redactor.record(output) is output
    told = output.model_copy(
        update={"stderr": f"x{SECRET}", "metadata": {SECRET: [{"key": SECRET}]}}
    )
    clean = redactor.record(told)
    assert SECRET not in clean.to_json()
    assert clean.metadata == {MARK: [{"key": MARK}]}


def test_files_of_a_tree_are_cleaned_and_links_left_alone(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "deep").mkdir(parents=True)
    outside = tmp_path / "outside"
    outside.write_text(SECRET, encoding="utf-8")
    (tree / "deep" / "file").write_bytes(b"\x00\xff" + SECRET.encode() + b"\n")
    (tree / "link").symlink_to(outside)
    Redactor([SECRET]).tree(tree)
    assert (tree / "deep" / "file").read_bytes() == b"\x00\xff[redacted]\n"
    assert outside.read_text(encoding="utf-8") == SECRET


@given(
    st.lists(st.text("abc", min_size=2, max_size=5), min_size=1, max_size=3),
    st.text("abcx", max_size=60),
    st.lists(st.integers(0, 60), max_size=6),
)
def test_a_stream_is_cleaned_wherever_it_is_cut(
    secrets: list[str], text: str, cuts: list[int]
) -> None:
    """No secret is in what comes out, and nothing else is lost."""
    words = [secret.encode() for secret in secrets]
    data = text.encode()
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    redaction = Redaction(words)
    out = b"".join(
        redaction.clean(data[start:end]) for start, end in itertools.pairwise(places)
    )
    out += redaction.clean(b"", last=True)
    rest = out.replace(Redaction.MARK, b"|")
    assert not [word for word in words if word in rest]
    if not [word for word in words if word in data]:
        assert out == data


def test_what_is_kept_and_logged_of_a_stream_is_clean(tmp_path: Path) -> None:
    with (tmp_path / "log").open("wb") as log:
        output = Output(100, log.fileno(), 1000, [SECRET.encode()])
        for char in f"key {SECRET}!":
            output.feed(char.encode())
        output.feed(SECRET[:5].encode())
        output.close()
    assert output.kept() == f"key {MARK}!{SECRET[:5]}".encode()
    assert (tmp_path / "log").read_bytes() == output.kept()


def test_the_tokens_of_a_login_are_secret(tmp_path: Path) -> None:
    login = tmp_path / "auth.json"
    tokens = {"access": "eyJhbGciOi.JIUzI1NiJ9-abc", "url": "https://auth.example.org"}
    login.write_text(json.dumps({"tokens": tokens, "scope": "user:all"}), "utf-8")
    assert secrets_in_file(login) == ("eyJhbGciOi.JIUzI1NiJ9-abc",)
    assert secrets_in_file(tmp_path / "gone.json") == ()
