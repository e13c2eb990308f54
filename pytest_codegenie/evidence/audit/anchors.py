"""Heads of the chain that are kept outside of it: in git notes and tags.

Whoever can write to the run store can write another chain. A head that is in a git
repository, pushed or signed, tells: it has to be in the chain for good. An anchor is
lines in the text of a note (``refs/notes/codegenie``) or of an annotated tag::

    codegenie-chain-head: <64 hex>
    codegenie-chain-records: <number of the record>
    codegenie-chain-name: <whose chain it is>

A repository is shared, and each machine has a chain of its own: the name tells their
anchors apart. It is given by the person who anchors and the one who verifies, because
the chain itself could say anything.

Git is the user's own, with the user's settings: which key signs, and which are trusted,
is said there.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pytest_codegenie.errors import CodegenieError
from pytest_codegenie.errors import ConfigError
from pytest_codegenie.errors import printable
from pytest_codegenie.errors import relative


NOTES_REF = "refs/notes/codegenie"
DEFAULT_NAME = "default"

_COMMIT_CHARS = 12
_SAID_LINES = 3
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,127}")
_FIELD = re.compile(r"^codegenie-chain-(head|records|name): (\S+)$", re.M)
_TAGS = "--format=%(refname:strip=2)%00%(objecttype)%00%(contents)%01"
_SIGNATURE = re.compile(r"^-----BEGIN (?:PGP|SSH) SIGNATURE-----$", re.M)


class AnchorError(CodegenieError):
    """A head cannot be anchored, or what is anchored cannot be read."""

    def __init__(self, place: Path | str, reason: str) -> None:
        super().__init__(place, reason)
        self.place = Path(place)
        self.reason = reason

    def __str__(self) -> str:
        return f"{relative(self.place)}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Anchor:
    """A head that stands in a repository."""

    #: ``note on <commit>`` or ``tag <name>``.
    place: str
    name: str
    head: str
    #: True: git verified the signature. False: it did not. None: there is none.
    verified: bool | None
    #: What git says of the signature.
    said: str = ""


def anchor_text(head: str, records: int, name: str) -> str:
    """Return the lines of an anchor."""
    return (
        f"codegenie-chain-head: {head}\n"
        f"codegenie-chain-records: {records}\n"
        f"codegenie-chain-name: {name}\n"
    )


def check_name(name: str) -> None:
    """Refuse a name of a chain that is none.

    Raises:
        ConfigError: It is none.
    """
    if not _NAME.fullmatch(name):
        raise ConfigError(
            "--name",
            "",
            f"{name!r} must be letters, digits and . _ / -, at most 128 of them",
        )


class Repository:
    """The user's repository, by the user's git."""

    def __init__(self, directory: Path) -> None:
        """Find it.

        Args:
            directory: In it.

        Raises:
            AnchorError: There is no git, or no repository.
        """
        self._directory = directory
        self._git("rev-parse", "--git-dir", fault="is in no git repository")

    def note_place(self) -> str:
        """Return the place of a note on HEAD.

        Raises:
            AnchorError: There is no commit.
        """
        return f"note on {self._commit()[:_COMMIT_CHARS]}"

    def write_note(self, text: str) -> None:
        """Add an anchor to the note on HEAD.

        Raises:
            AnchorError: It cannot be written.
        """
        commit = self._commit()
        ref = f"--ref={NOTES_REF}"
        fault = f"cannot be given a note in {NOTES_REF}"
        self._git("notes", ref, "append", "-m", text, commit, fault=fault)

    def write_tag(self, tag: str, text: str, *, sign: bool) -> str:
        """Make an annotated tag of HEAD with an anchor; return its place.

        Raises:
            AnchorError: It cannot be made or signed.
            ConfigError: The name is none, or there is a tag of that name.
        """
        commit = self._commit()
        if self._run("check-ref-format", f"refs/tags/{tag}").returncode:
            raise ConfigError("--tag", "", f"{tag!r} is no name that git takes")
        if not self._run("show-ref", "--verify", f"refs/tags/{tag}").returncode:
            raise ConfigError(
                "--tag", "", f"there is a tag {tag!r} already; choose another name"
            )
        # Whatever tag.gpgSign says; a message makes it annotated.
        how = "--sign" if sign else "--no-sign"
        message = f"Audit chain of pytest-codegenie\n\n{text}"
        fault = "cannot be given a signed tag" if sign else "cannot be given a tag"
        done = self._run("tag", how, "--message", message, tag, commit)
        if done.returncode:
            raise self._error(fault, done)
        if sign and not _SIGNATURE.search(self._run("cat-file", "tag", tag).stdout):
            # Git 2.39 makes one without, and ends well, where SSH has no such key.
            self._git("tag", "--delete", tag, fault=f"has an unsigned tag {tag}")
            raise self._error(fault, done)
        return f"tag {tag}"

    def anchors(self) -> list[Anchor]:
        """Return all anchors, of all names: those of notes, then those of tags.

        Raises:
            AnchorError: They cannot be read.
        """
        return [*self._notes(), *self._tags()]

    def _notes(self) -> Iterator[Anchor]:
        listed = self._run("notes", f"--ref={NOTES_REF}", "list")
        for line in listed.stdout.splitlines():
            blob, _, commit = line.partition(" ")
            text = self._git("cat-file", "blob", blob, fault="has lost a note")
            for name, head in _fields(text):
                yield Anchor(f"note on {commit[:_COMMIT_CHARS]}", name, head, None)

    def _tags(self) -> Iterator[Anchor]:
        fault = "has tags that cannot be read"
        listed = self._git("for-each-ref", "refs/tags", _TAGS, fault=fault)
        for record in listed.split("\x01"):
            tag, _, rest = record.strip("\n").partition("\0")
            kind, _, text = rest.partition("\0")
            if kind != "tag":
                continue
            found = list(_fields(text))
            if found:
                verified, said = self._verify(tag, text)
                for name, head in found:
                    yield Anchor(f"tag {tag}", name, head, verified, said)

    def _verify(self, tag: str, text: str) -> tuple[bool | None, str]:
        """Return whether git verifies a tag's signature, and what it says."""
        if not _SIGNATURE.search(text):
            return None, ""
        done = self._run("verify-tag", tag)
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        if done.returncode:
            return False, printable(lines[-1]) if lines else "git says nothing of it"
        good = [
            line for line in lines if line.lower().startswith(("good", "gpg: good"))
        ]
        return True, printable(good[0]) if good else ""

    def _commit(self) -> str:
        fault = "has no commit yet that could be anchored to"
        return self._git("rev-parse", "--verify", "HEAD^{commit}", fault=fault).strip()

    def _git(self, *arguments: str, fault: str) -> str:
        """Run git; return what it prints.

        Raises:
            AnchorError: It failed; ``fault`` and what git said is the reason.
        """
        done = self._run(*arguments)
        if done.returncode:
            raise self._error(fault, done)
        return done.stdout

    def _error(self, fault: str, done: subprocess.CompletedProcess[str]) -> AnchorError:
        lines = [printable(line) for line in done.stderr.splitlines() if line.strip()]
        said = " ".join(lines[-_SAID_LINES:]) or "git says nothing of it"
        return AnchorError(self._directory.absolute(), f"{fault}: {said}")

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        # The terminal stays: a key may ask for its passphrase there.
        try:
            return subprocess.run(
                ["git", "-C", str(self._directory), *arguments],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                check=False,
            )
        except FileNotFoundError:
            raise AnchorError("git", "is not installed, or not on PATH") from None


def _fields(text: str) -> Iterator[tuple[str, str]]:
    """Yield (name, head) of the anchors in a text; a note may have several."""
    head = ""
    for key, value in _FIELD.findall(text):
        if key == "head":
            if head:
                yield DEFAULT_NAME, head
            head = value
        elif key == "name" and head:
            yield value, head
            head = ""
    if head:
        yield DEFAULT_NAME, head
