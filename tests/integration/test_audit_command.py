"""``codegenie audit verify`` and ``anchor``, on stores that no session had to make."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support import Bench
from support_audit import NOW
from support_audit import Store
from support_audit import make_result

from pytest_codegenie.cli import main
from pytest_codegenie.evidence.audit.chain import GENESIS


class Desk:
    """A person at a shell, in a project with a store, a corpus and a git repository."""

    def __init__(self, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.path = path
        self.store = Store(path)
        self._capsys = capsys

    def record(self, *run_ids: str) -> list[str]:
        """Put runs on record; return the heads."""
        return [self.store.recorded_run(name)[-1].chain_head for name in run_ids]

    def audit(self, *arguments: str, ends_in: int = 0) -> str:
        """Run the command; return what it printed on both streams."""
        self._capsys.readouterr()
        code = main(["audit", *arguments])
        printed = self._capsys.readouterr()
        assert code == ends_in, printed
        assert "Traceback" not in printed.err
        return printed.out + printed.err

    def json(self, *arguments: str, ends_in: int = 0) -> Any:
        """Run ``verify --json``; return what it says."""
        return json.loads(self.audit("verify", "--json", *arguments, ends_in=ends_in))

    def git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.path,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    def repository(self) -> None:
        """Make a repository with a commit."""
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.name", "A. Person")
        self.git("config", "user.email", "person@example.com")
        self.git("commit", "-q", "--allow-empty", "-m", "first")

    def signing_key(self) -> None:
        """Make an SSH key that git signs with and trusts."""
        key = self.path / "key"
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(key)],
            check=True,
        )
        public = key.with_suffix(".pub").read_text("utf-8")
        (self.path / "signers").write_text(f"person@example.com {public}")
        self.git("config", "gpg.format", "ssh")
        self.git("config", "user.signingKey", str(key))
        self.git("config", "gpg.ssh.allowedSignersFile", str(self.path / "signers"))


@pytest.fixture
def desk(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Desk:
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, os.devnull)
    # No repository above the test's directory.
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.chdir(tmp_path)
    return Desk(tmp_path, capsys)


# -- verify


def test_verify_says_what_it_found(desk: Desk) -> None:
    (head,) = desk.record("run-1")
    assert desk.audit("verify") == (
        ".codegenie/audit/chain.jsonl: 1 record\n"
        f"  head        {head}\n"
        "  complete    1 of 1, of 1 run\n"
        "  derived     1 record, of 3 results\n"
        "  anchor      none\n"
        "not verified: 3\n"
        "- case demo-task/first is not at hand\n"
        "- case demo-task/second is not at hand\n"
        "- case demo-task/third is not at hand\n"
        "the chain verifies\n"
    )
    assert desk.json() == {
        "verified": True,
        "head": head,
        "records": 1,
        "runs": 1,
        "complete": 1,
        "incomplete": 0,
        "derived": 1,
        "results": 3,
        "gaps": [
            {"kind": "case-gone", "what": f"case demo-task/{name} is not at hand"}
            for name in ("first", "second", "third")
        ],
        "anchors": [],
    }


def test_verify_of_no_chain_is_no_error(desk: Desk) -> None:
    assert f"head        {GENESIS}" in desk.audit("verify")


def test_verify_compares_with_the_corpus(desk: Desk) -> None:
    bench = Bench(desk.path / "bench")
    case = bench.case("first")
    digest = bench.load("first").case_digest
    desk.store.recorded_run("run-1", [make_result("first", case_digest=digest)])
    assert desk.json("--strict")["gaps"] == []
    (case / "input" / "problem.md").write_text("another problem\n")
    found = desk.json("--strict", ends_in=1)
    assert [gap["kind"] for gap in found["gaps"]] == ["corpus-changed"]
    (case / "input" / "loop").symlink_to("/etc")
    assert [gap["kind"] for gap in desk.json()["gaps"]] == ["corpus-changed"]
    shutil.move("bench", "corpus")
    assert [gap["kind"] for gap in desk.json()["gaps"]] == ["case-gone"]
    assert desk.json("--bench=corpus")["gaps"][0]["kind"] == "corpus-changed"


def test_strict_fails_where_something_could_not_be_verified(desk: Desk) -> None:
    desk.record("run-1")
    printed = desk.audit("verify", "--strict", ends_in=1)
    assert printed.endswith(
        "the chain verifies\n"
        "not everything could be verified, and --strict asks for it\n"
    )


def test_a_chain_that_does_not_verify_ends_in_8_and_names_the_record(
    desk: Desk,
) -> None:
    desk.record("run-1", "run-2")
    data = desk.store.chain.read_bytes()
    desk.store.chain.write_bytes(data.replace(b'"passed_count":3', b'"passed_count":4'))
    printed = desk.audit("verify", ends_in=8)
    assert printed.startswith(
        "codegenie: .codegenie/audit/chain.jsonl: audit chain: record 1 (run-1, "
        "demo-task, oracle) does not verify: digest differs\n  recorded blake3:"
    )
    found = desk.json(ends_in=8)
    assert found["verified"] is False
    assert found["broken"]["record"] == "1 (run-1, demo-task, oracle)"
    assert found["broken"]["what"] == "digest"
    assert found["broken"]["recorded"] != found["broken"]["computed"]


def test_many_gaps_of_a_kind_are_counted(desk: Desk) -> None:
    results = [make_result(f"case-{number}") for number in range(9)]
    desk.store.recorded_run("run-1", results)
    printed = desk.audit("verify")
    assert printed.count("is not at hand") == 5
    assert "- ... and 4 more of the kind case-gone\n" in printed


def derived(desk: Desk, since: str) -> int:
    number = desk.json("--since", since)["derived"]
    assert isinstance(number, int)
    return number


def test_since_a_head_a_run_or_a_date(desk: Desk) -> None:
    heads = desk.record("run-1", "run-2", "run-3")
    late = make_result("first", ended_at=NOW.replace(year=2027))
    desk.store.recorded_run("run-4", [late])
    assert [derived(desk, head) for head in (GENESIS, *heads)] == [4, 3, 2, 1]
    assert [derived(desk, f"run-{n}") for n in (1, 2, 3, 4)] == [4, 3, 2, 1]
    assert derived(desk, "2026-11-21") == 4
    assert derived(desk, "2026-11-21T12:00:01Z") == 4
    assert derived(desk, "2026-11-21T12:00:02+00:00") == 1
    assert derived(desk, "2028-01-01") == 0


def test_since_a_head_that_is_not_in_the_chain_is_tampering(desk: Desk) -> None:
    """A head from a log is the simplest anchor."""
    desk.record("run-1")
    head = "a" * 64
    broken = desk.json("--since", head, ends_in=8)["broken"]
    assert broken == {
        "record": "of --since",
        "what": "chain_head",
        "recorded": head,
        "computed": "no such head among 1 records",
    }


def test_since_something_else_is_wrong_usage(desk: Desk) -> None:
    desk.record("run-1")
    printed = desk.audit("verify", "--since=run-11", ends_in=4)
    assert printed == (
        "codegenie: --since: 'run-11' is no head (64 hex digits), no date "
        "(2026-11-21), and no run with a record (did you mean 'run-1'?)\n"
    )


def test_a_command_is_asked_for(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["audit"])
    assert caught.value.code == 4
    assert "COMMAND" in capsys.readouterr().err


# -- anchors


def test_a_note_holds_the_head_and_verify_reads_it(desk: Desk) -> None:
    desk.repository()
    (first,) = desk.record("run-1")
    printed = desk.audit("anchor")
    commit = desk.git("rev-parse", "HEAD").strip()
    assert printed == (
        f"note on {commit[:12]}: head {first} of record 1\n"
        "push it, and nobody here can change it: git push REMOTE refs/notes/codegenie\n"
    )
    assert desk.git("notes", "--ref=codegenie", "show", commit) == (
        f"codegenie-chain-head: {first}\n"
        "codegenie-chain-records: 1\ncodegenie-chain-name: default\n"
    )
    assert (
        desk.audit("anchor")
        == f"note on {commit[:12]}: head {first} is there already\n"
    )
    desk.record("run-2")
    desk.audit("anchor", "--note")
    printed = desk.audit("verify")
    assert f"  anchor      note on {commit[:12]}: record 1, not signed\n" in printed
    assert f"  anchor      note on {commit[:12]}: record 2, not signed\n" in printed


def test_a_chain_that_was_made_anew_does_not_have_the_anchored_head(desk: Desk) -> None:
    desk.repository()
    (head,) = desk.record("run-1")
    desk.audit("anchor")
    shutil.rmtree(desk.store.out)
    desk.store.recorded_run("run-1", [make_result("first", outcome="failed")])
    broken = desk.json(ends_in=8)["broken"]
    commit = desk.git("rev-parse", "HEAD")[:12]
    assert broken["record"] == f"anchored by the note on {commit}"
    assert (broken["recorded"], broken["computed"]) == (
        head,
        "no such head among 1 records",
    )
    # Nor is another head anchored beside it, as if nothing were wrong.
    assert "anchored by the note" in desk.audit("anchor", ends_in=8)


def test_a_chain_that_was_cut_off_does_not_have_the_anchored_head(desk: Desk) -> None:
    desk.repository()
    desk.record("run-1", "run-2")
    desk.audit("anchor", "--tag=audited")
    shutil.rmtree(desk.store.out / "runs" / "run-2")
    desk.store.chain.write_bytes(desk.store.lines[0])
    assert desk.json(ends_in=8)["broken"]["record"] == "anchored by the tag audited"


def test_chains_of_several_machines_are_told_apart_by_name(desk: Desk) -> None:
    desk.repository()
    desk.record("run-1")
    desk.audit("anchor", "--name=ci")
    shutil.rmtree(desk.store.out)
    desk.record("run-2")
    assert desk.json()["anchors"] == []
    desk.audit("anchor", "--name=ada/laptop")
    (anchor,) = desk.json("--name=ada/laptop")["anchors"]
    assert anchor["name"] == "ada/laptop"
    desk.json("--name=ci", ends_in=8)
    printed = desk.audit("anchor", "--name=a b", ends_in=4)
    assert printed.startswith("codegenie: --name: 'a b' must be letters, digits and")


def test_a_tag_is_annotated_and_unsigned_whatever_git_would_do(desk: Desk) -> None:
    desk.repository()
    desk.git("config", "tag.gpgSign", "true")
    (head,) = desk.record("run-1")
    desk.audit("anchor", "--tag")
    tag = f"codegenie-chain-{head[:12]}"
    assert desk.git("cat-file", "-t", tag) == "tag\n"
    assert f"codegenie-chain-head: {head}\n" in desk.git(
        "tag", "-n9", "-l", tag
    ).replace("\n    ", "\n")
    assert f"tag {tag}: record 1, not signed\n" in desk.audit(
        "verify", "--strict", ends_in=1
    )
    assert desk.audit("anchor", "--tag", ends_in=4) == (
        f"codegenie: --tag: there is a tag '{tag}' already; choose another name\n"
    )
    assert desk.audit("anchor", "--tag=a..b", ends_in=4) == (
        "codegenie: --tag: 'a..b' is no name that git takes\n"
    )


def test_a_signed_tag_verifies_until_nobody_vouches_for_the_key(desk: Desk) -> None:
    desk.repository()
    desk.signing_key()
    bench = Bench(desk.path / "bench")
    bench.case("first")
    digest = bench.load("first").case_digest
    desk.store.recorded_run("run-1", [make_result("first", case_digest=digest)])
    desk.audit("anchor", "--sign", "--note", "--tag=audited")
    assert "BEGIN SSH SIGNATURE" in desk.git("cat-file", "tag", "audited")
    note, tag = desk.json("--strict")["anchors"]
    assert (note["verified"], tag["verified"]) == (None, True)
    assert 'Good "git" signature for person@example.com' in tag["said"]
    assert "tag audited: record 1, signature verifies: Good" in desk.audit("verify")
    (desk.path / "signers").write_text("")
    desk.json()
    (tag,) = [one for one in desk.json("--strict", ends_in=1)["anchors"] if one["said"]]
    assert tag["verified"] is False
    assert "tag audited: record 1, signature DOES NOT verify: " in desk.audit("verify")


def test_a_tag_that_was_made_again_with_another_head_does_not_verify(
    desk: Desk,
) -> None:
    desk.repository()
    desk.signing_key()
    first, second = desk.record("run-1", "run-2")
    desk.audit("anchor", "--sign", "--tag=audited")
    forged = desk.git("cat-file", "tag", "audited").replace(second, first)
    done = subprocess.run(
        ["git", "mktag"],
        input=forged,
        capture_output=True,
        text=True,
        check=True,
        cwd=desk.path,
    )
    desk.git("update-ref", "refs/tags/audited", done.stdout.strip())
    (tag,) = desk.json()["anchors"]
    assert (tag["head"], tag["verified"]) == (first, False)


def test_bad_situations_are_named(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "there is nothing to anchor: .codegenie/audit/chain.jsonl has no record" in (
        desk.audit("anchor", ends_in=4)
    )
    desk.record("run-1")
    assert desk.audit("anchor", ends_in=1).startswith("codegenie: .: is in no git repo")
    assert desk.json()["anchors"] == []
    assert "is in no git repository" in desk.audit(
        "verify", "--repository=.codegenie", ends_in=1
    )
    desk.git("init", "-q")
    assert "has no commit yet" in desk.audit("anchor", ends_in=1)
    desk.repository()
    assert desk.audit("anchor", "--sign", "--note", ends_in=4) == (
        "codegenie: git signs tags, not notes: --sign needs --tag, not --note\n"
    )
    desk.git("config", "gpg.format", "ssh")
    desk.git("config", "user.signingKey", str(desk.path / "no-such-key"))
    printed = desk.audit("anchor", "--sign", ends_in=1)
    assert printed.startswith("codegenie: .: cannot be given a signed tag: ")
    assert "no-such-key" in printed
    assert desk.git("tag") == ""
    desk.git("config", "--unset", "user.email")
    desk.git("config", "user.useConfigOnly", "true")
    printed = desk.audit("anchor", ends_in=1)
    assert "cannot be given a note in refs/notes/codegenie: " in printed
    (desk.path / "empty").mkdir()
    monkeypatch.setenv("PATH", str(desk.path / "empty"))
    printed = desk.audit("anchor", ends_in=1)
    assert printed == "codegenie: git: is not installed, or not on PATH\n"
    assert desk.json()["gaps"][-1] == {
        "kind": "anchors-unread",
        "what": "anchors were not read: git: is not installed, or not on PATH",
    }


def test_a_broken_chain_is_not_anchored(desk: Desk) -> None:
    desk.repository()
    desk.record("run-1")
    desk.store.chain.write_bytes(
        desk.store.chain.read_bytes().replace(b"0.75", b"0.85")
    )
    desk.audit("anchor", ends_in=8)
    assert desk.git("for-each-ref", "refs/notes") == ""


def test_notes_and_tags_of_others_are_left_alone(desk: Desk) -> None:
    desk.repository()
    desk.record("run-1")
    desk.git("notes", "--ref=codegenie", "add", "-m", "somebody's own words")
    desk.git("tag", "light")
    desk.git("tag", "-m", "words", "heavy")
    desk.audit("anchor")
    assert len(desk.json()["anchors"]) == 1
    text = desk.git("notes", "--ref=codegenie", "show")
    assert text.startswith("somebody's own words\n\ncodegenie-chain-head: ")
