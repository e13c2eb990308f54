"""``[repository]`` of ``task.toml`` says what the code is, or an error says why."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from support_sources import Origin

from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.task_files import Repository
from pytest_codegenie.workspaces.sources.archives import Archive
from pytest_codegenie.workspaces.sources.choosing import choose
from pytest_codegenie.workspaces.sources.commits import Commit
from pytest_codegenie.workspaces.sources.sdists import Sdist
from pytest_codegenie.workspaces.sources.store import Wanted


ID = "0192aac24123735b3eaf9b08df46429bb770c283"
HASH = "ab" * 32
URL = "https://example.org/"


@pytest.fixture
def case(tmp_path: Path, origin: Origin) -> Path:
    """An ``input/`` with one of each kind."""
    path = tmp_path / "input"
    (path / "repo").mkdir(parents=True)
    (path / "code.tar.gz").write_bytes(b"\x1f\x8b")
    origin.git("bundle", "create", "--quiet", str(path / "bundle"), "--all")
    origin.git("clone", "--quiet", "--bare", ".", str(path / "mirror.git"))
    return path


def _choose(case: Path, source: str, commit: str = "", sha256: str = "") -> object:
    values = {"source": source, "base_commit": commit, "sha256": sha256}
    return choose(Repository(name="a/b", **values), case)


def test_what_lies_in_the_case(case: Path) -> None:
    assert _choose(case, "repo") == case / "repo"
    assert _choose(case, "repo", ID) == case / "repo"
    assert _choose(case, "code.tar.gz") == Archive(case / "code.tar.gz")
    assert _choose(case, "code.tar.gz", ID) == Archive(case / "code.tar.gz")
    # The case's digest is on them, so any name of a commit will do.
    assert _choose(case, "bundle", "trunk") == Commit(str(case / "bundle"), "trunk")
    mirror = str(case / "mirror.git")
    assert _choose(case, "mirror.git", "trunk") == Commit(mirror, "trunk")
    # No working tree of what is no repository.
    assert _choose(case, "mirror.git") == case / "mirror.git"


def test_what_lies_elsewhere(case: Path, origin: Origin) -> None:
    mirror = str(origin.path)
    assert _choose(case, mirror, ID) == Commit(mirror, ID)
    bundle = str(case / "bundle")
    assert _choose(case, bundle, ID) == Commit(bundle, ID)
    tar = case / "code.tar.gz"
    assert _choose(case, str(tar), "", HASH) == Archive(tar, HASH, must_name_hash=True)
    for url in (f"{URL}a/b.git", "git@example.org:a/b.git", "ssh://git@e.org/a/b"):
        assert _choose(case, url, ID) == Commit(url, ID)
    url = f"{URL}b.tar.gz?raw=1"
    assert _choose(case, url, ID, HASH) == Archive(url, HASH, must_name_hash=True)
    # Without either, the name says it, and fetching says what its hash is.
    assert _choose(case, url) == Archive(url, "", must_name_hash=True)
    assert _choose(case, f"{URL}b.git", "1" * 64) == Commit(f"{URL}b.git", "1" * 64)


def test_an_index_has_it(case: Path) -> None:
    asked = _choose(case, "sdist:Zope.Interface==5.0rc1", ID, HASH)
    assert asked == Sdist("zope-interface", "5.0rc1", HASH)


def test_equal_code_has_equal_keys(case: Path) -> None:
    same: list[Wanted] = [
        Archive(case / "code.tar.gz", HASH),
        Archive(f"{URL}b.tar.gz", HASH, must_name_hash=True),
        Sdist("b", "1", HASH),
    ]
    assert {one.key for one in same} == {f"sha256-{HASH}"}
    assert Commit("/a", ID).key == Commit(f"{URL}b", ID).key == f"git-{ID}"
    assert Commit("/a", "trunk").key == ""
    # Of what lies in the case, the hash is that of its bytes.
    digest = hashlib.sha256(b"\x1f\x8b").hexdigest()
    assert Archive(case / "code.tar.gz").key == f"sha256-{digest}"


@pytest.mark.parametrize(
    ("source", "commit", "sha256", "words"),
    [
        ("repot", "", "", "source: 'repot' is no directory in input/; .*base_commit"),
        ("../repo", "", "", "source: '../repo' leads out of input/"),
        ("bundle", "", "", "base_commit: missing: 'bundle' is a git bundle"),
        ("ORIGIN", "", "", "base_commit: missing: which commit of '.*'.* sha256"),
        ("ORIGIN", "trunk", "", "base_commit: 'trunk' is no full commit id of 40"),
        (f"{URL}b.git", "0192aac", "", "'0192aac' is no full commit id .*which 'https"),
        (f"{URL}b.git", ID.upper(), "", "no full commit id"),
        (f"{URL}b.git", "", "", "base_commit: missing: which commit"),
        ("ORIGIN/nothing", ID, "", "source: there is no '.*/nothing' on this machine"),
        ("INPUT/repo", ID, "", "is no git repository; a plain directory has to lie in"),
        ("INPUT/code.tar.gz", ID, "", "is no repository and no bundle, so it has no"),
        ("ftp://example.org/b.tar.gz", "", HASH, "fetched by https, http, file only"),
        ("sdist:flask", "", HASH, "write sdist:NAME==VERSION, as in sdist:flask==2"),
        ("sdist:flask>=2", "", HASH, "write sdist:NAME==VERSION"),
        ("sdist:../x==1", "", HASH, "write sdist:NAME==VERSION"),
        ("sdist:flask==two", "", HASH, "write sdist:NAME==VERSION"),
    ],
)
def test_what_names_nothing_is_said(
    case: Path, origin: Origin, source: str, commit: str, sha256: str, words: str
) -> None:
    source = source.replace("ORIGIN", str(origin.path)).replace("INPUT", str(case))
    pattern = rf"(?s)^input/task\.toml: repository\..*{words}"
    with pytest.raises(WorkspaceUnavailable, match=pattern):
        _choose(case, source, commit, sha256)
