"""``codegenie audit``: verify the audit chain, and anchor its head in git."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from pytest_codegenie.cli.audit_output import as_broken
from pytest_codegenie.cli.audit_output import as_json
from pytest_codegenie.cli.audit_output import audit_lines
from pytest_codegenie.cli.audit_output import print_json
from pytest_codegenie.cli.audit_scope import Corpus
from pytest_codegenie.cli.audit_scope import Since
from pytest_codegenie.cli.audit_scope import select_none
from pytest_codegenie.cli.new import UsageFault
from pytest_codegenie.cli.places import add_bench_option
from pytest_codegenie.cli.places import add_out_option
from pytest_codegenie.cli.places import find_out
from pytest_codegenie.cli.saying import say
from pytest_codegenie.errors import ChainTamperDetected
from pytest_codegenie.errors import relative
from pytest_codegenie.evidence.audit.anchors import DEFAULT_NAME
from pytest_codegenie.evidence.audit.anchors import NOTES_REF
from pytest_codegenie.evidence.audit.anchors import Anchor
from pytest_codegenie.evidence.audit.anchors import AnchorError
from pytest_codegenie.evidence.audit.anchors import Repository
from pytest_codegenie.evidence.audit.anchors import anchor_text
from pytest_codegenie.evidence.audit.anchors import check_name
from pytest_codegenie.evidence.audit.chain import AUDIT
from pytest_codegenie.evidence.audit.chain import CHAIN
from pytest_codegenie.evidence.audit.chain import GENESIS
from pytest_codegenie.evidence.audit.findings import Audit
from pytest_codegenie.evidence.audit.findings import Gap
from pytest_codegenie.evidence.audit.verifying import audit


#: Of a head, in the default name of a tag.
_TAG_HEAD_CHARS = 12


def add_command(commands: Any, summary: str) -> None:
    """Add the command, and its own two, to the parser."""
    parser = commands.add_parser(
        "audit",
        help=summary,
        description="The audit chain has a record for each task class and agent of a "
        "run, which no later change leaves unnoticed.",
    )
    own = parser.add_subparsers(
        dest="audit_command",
        metavar="COMMAND",
        required=True,
        parser_class=type(parser),
    )
    _add_verify(own)
    _add_anchor(own)


def _add_verify(commands: Any) -> None:
    parser = commands.add_parser(
        "verify",
        help="verify the chain, and derive again what its records say",
        description="Verify the digest and the head of every record; where runs, "
        "corpus and anchors are at hand, compare them with the records. The first "
        "record that does not hold is named. Exit code 0 (it verifies), 8 (it does "
        "not), or with --strict 1 (something could not be verified).",
    )
    parser.add_argument(
        "--since",
        metavar="HEAD|RUN|DATE",
        help="derive only later records again: after this head, from this run's first "
        "record on, or of runs that ended on this date (ISO 8601, UTC) or after it",
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        help="fail where something could not be verified, too: a run that is gone, a "
        "case that has changed since, a signature that git does not verify",
    )
    parser.add_argument(
        "--json", action="store_true", help="print what was found as JSON"
    )
    add_bench_option(parser)
    _add_shared(parser)
    parser.set_defaults(run=verify)


def _add_anchor(commands: Any) -> None:
    parser = commands.add_parser(
        "anchor",
        help="write the chain's head into a git note or tag",
        description="Verify the chain's links and write its head where whoever changes "
        "the run store cannot: into a git note on HEAD (refs/notes/codegenie), or an "
        "annotated tag of HEAD. What is pushed, or signed, counts.",
    )
    parser.add_argument(
        "--note", action="store_true", help="write a note (default, without --tag)"
    )
    parser.add_argument(
        "--tag",
        nargs="?",
        const="",
        metavar="NAME",
        help="make a tag (default name: codegenie-chain-, and the head's beginning)",
    )
    parser.add_argument(
        "--sign",
        action="store_true",
        help="make a tag, signed as your git is configured (gpg.format, "
        "user.signingKey)",
    )
    _add_shared(parser)
    parser.set_defaults(run=anchor)


def _add_shared(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--repository",
        type=Path,
        default=Path(),
        metavar="DIR",
        help="the git repository of the anchors (default: the working directory's)",
    )
    parser.add_argument(
        "--name",
        default=DEFAULT_NAME,
        metavar="NAME",
        help="whose chain it is, where several are anchored in one repository "
        "(default: default)",
    )
    add_out_option(parser)


def verify(options: argparse.Namespace) -> int:
    """Print what was found."""
    check_name(options.name)
    out = find_out(options.out)
    try:
        found = _audit(out, options)
        anchors = _check_anchors(out, options, found)
    except ChainTamperDetected as exc:
        if not options.json:
            raise
        print_json(as_broken(exc))
        return exc.exit_code
    failed = bool(options.strict and (found.gaps or _doubtful(anchors)))
    if options.json:
        print_json(as_json(found, anchors))
        return int(failed)
    for line in audit_lines(out, found, anchors):
        say(line)
    if failed:
        say("not everything could be verified, and --strict asks for it")
    return int(failed)


def _audit(out: Path, options: argparse.Namespace) -> Audit:
    since = Since(options.since, out)
    found = audit(out, case_digest=Corpus(options.bench), selects=since)
    since.check(found)
    return found


def _check_anchors(
    out: Path, options: argparse.Namespace, found: Audit
) -> list[Anchor]:
    """Return the anchors of the chain's name; all of their heads are in the chain."""
    try:
        anchors = Repository(options.repository).anchors()
    except AnchorError as exc:
        if options.repository != Path():
            raise
        if _may_have_anchors(Path.cwd()):
            found.gaps.append(Gap("anchors-unread", f"anchors were not read: {exc}"))
        return []
    own = [anchor for anchor in anchors if anchor.name == options.name]
    for anchor in own:
        _check_anchored(out, anchor, found)
    return own


def _may_have_anchors(directory: Path) -> bool:
    """Tell whether git would find a repository, if it could."""
    places = (directory, *directory.parents)
    return "GIT_DIR" in os.environ or any((path / ".git").exists() for path in places)


def _check_anchored(out: Path, anchor: Anchor, found: Audit) -> None:
    if anchor.head not in found.heads and anchor.head != GENESIS:
        raise ChainTamperDetected(
            f"anchored by the {anchor.place}",
            anchor.head,
            f"no such head among {found.records} records",
            what="chain_head",
            path=out / AUDIT / CHAIN,
        )


def _doubtful(anchors: list[Anchor]) -> bool:
    return any(anchor.verified is False for anchor in anchors)


def anchor(options: argparse.Namespace) -> int:
    """Write the head; say where it is and how it leaves this machine."""
    check_name(options.name)
    if options.sign and options.note and options.tag is None:
        raise UsageFault("git signs tags, not notes: --sign needs --tag, not --note")
    out = find_out(options.out)
    found = audit(out, selects=select_none)
    if not found.records:
        raise UsageFault(
            f"there is nothing to anchor: {relative(out / AUDIT / CHAIN)} has no "
            "record; a run appends one: pytest --codegenie bench/"
        )
    repository = Repository(options.repository)
    existing = [one for one in repository.anchors() if one.name == options.name]
    for one in existing:
        _check_anchored(out, one, found)
    text = anchor_text(found.head, found.records, options.name)
    wants_tag = options.sign or options.tag is not None
    if options.note or not wants_tag:
        _anchor_note(repository, text, found, existing)
    if wants_tag:
        tag = options.tag or f"codegenie-chain-{found.head[:_TAG_HEAD_CHARS]}"
        place = repository.write_tag(tag, text, sign=options.sign)
        _print_anchored(place, found, f"refs/tags/{tag}")
    return 0


def _anchor_note(
    repository: Repository, text: str, found: Audit, existing: list[Anchor]
) -> None:
    place = repository.note_place()
    if any(one.place == place and one.head == found.head for one in existing):
        say(f"{place}: head {found.head} is there already")
        return
    repository.write_note(text)
    _print_anchored(place, found, NOTES_REF)


def _print_anchored(place: str, found: Audit, ref: str) -> None:
    say(f"{place}: head {found.head} of record {found.records}")
    say(f"push it, and nobody here can change it: git push REMOTE {ref}")
