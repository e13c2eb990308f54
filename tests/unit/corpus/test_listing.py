"""What a mismatch is told from: the last good listing on this machine."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_codegenie.corpus.listing import differing_paths
from pytest_codegenie.corpus.listing import remember_listing
from pytest_codegenie.hashing import hash_tree


@pytest.fixture
def case(tmp_path: Path) -> Path:
    directory = tmp_path / "case"
    directory.mkdir()
    for name in ("kept", "edited", "removed"):
        (directory / name).write_text(name, encoding="utf-8")
    return directory


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache/pytest-codegenie/listings"


def change(case: Path) -> None:
    (case / "edited").write_text("otherwise", encoding="utf-8")
    (case / "removed").unlink()
    (case / "added").touch()


def test_what_differs_is_named_and_how(case: Path, cache: Path) -> None:
    digest = hash_tree(case).digest
    assert differing_paths(case, digest) == ()
    remember_listing(case, digest)
    assert differing_paths(case, digest) == ()
    change(case)
    assert differing_paths(case, digest) == (
        "added (new)",
        "edited (changed)",
        "removed (missing)",
    )
    assert list(cache.iterdir()) == [cache / digest.removeprefix("blake3:")]


def test_a_listing_that_is_known_is_not_written_again(case: Path, cache: Path) -> None:
    digest = hash_tree(case).digest
    remember_listing(case, digest)
    change(case)
    remember_listing(case, digest)
    assert len(differing_paths(case, digest)) == 3


def block_cache(cache: Path, _monkeypatch: pytest.MonkeyPatch) -> None:
    cache.parent.mkdir(parents=True)
    cache.touch()


def be_homeless(_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", refuse)


@pytest.mark.parametrize("spoil", [block_cache, be_homeless])
def test_without_a_usable_cache_nothing_is_known_and_nothing_breaks(
    case: Path,
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    spoil: Callable[[Path, pytest.MonkeyPatch], None],
) -> None:
    spoil(cache, monkeypatch)
    digest = hash_tree(case).digest
    remember_listing(case, digest)
    change(case)
    assert differing_paths(case, digest) == ()


@pytest.mark.parametrize("content", [b"", b"{", b"[1, 2]", b"3", b"null", b"\xff"])
def test_a_listing_that_is_broken_is_as_good_as_none(
    case: Path, cache: Path, content: bytes
) -> None:
    digest = hash_tree(case).digest
    remember_listing(case, digest)
    path = cache / digest.removeprefix("blake3:")
    assert set(json.loads(path.read_bytes())) == {"kept", "edited", "removed"}
    path.write_bytes(content)
    assert differing_paths(case, digest) == ()
