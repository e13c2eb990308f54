"""The cache's entries: found again, checked, and never in anybody's way."""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import os
import resource
import shutil
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_codegenie import logs
from pytest_codegenie.evidence.cache import PATCHES
from pytest_codegenie.evidence.cache import VERDICTS
from pytest_codegenie.evidence.cache import Cache
from pytest_codegenie.evidence.cache import CachedPatch
from pytest_codegenie.evidence.cache import CachedVerdict
from pytest_codegenie.evidence.cache import Kept
from pytest_codegenie.evidence.cache import choose_for_removal
from pytest_codegenie.evidence.cache import list_kept
from pytest_codegenie.evidence.cache import remove
from pytest_codegenie.models import AgentOutput
from pytest_codegenie.models import BenchScore


NOW = dt.datetime(2026, 11, 21, tzinfo=dt.UTC)
KEY = f"blake3:{'ab' * 32}"
OTHER = f"blake3:{'cd' * 32}"


def patch(text: str = "diff") -> CachedPatch:
    output = AgentOutput(instance_id="first", agent_name="oracle", patch=text)
    return CachedPatch(run_id="r", made_at=NOW, output=output)


VERDICT = CachedVerdict(
    run_id="r",
    made_at=NOW,
    outcome="failed",
    score=BenchScore(passed=False, score=0.25, breakdown={"tests": 0.5}),
    evaluation=None,
    message="two lines\nof text",
)


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Cache]:
    logs.log_to(tmp_path / "log.jsonl")
    yield Cache(tmp_path / "cache")
    logs.log_to(None)


def events(tmp_path: Path) -> list[str]:
    log = tmp_path / "log.jsonl"
    lines = log.read_text("utf-8").splitlines() if log.exists() else []
    return [json.loads(line)["event_type"] for line in lines]


def only_entry(tmp_path: Path) -> Path:
    (found,) = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    return found


def test_what_is_kept_is_found_under_its_key_and_its_kind(cache: Cache) -> None:
    cache.keep_patch(KEY, patch())
    cache.keep_verdict(OTHER, VERDICT)
    assert cache.find_patch(KEY) == patch()
    assert cache.find_verdict(OTHER) == VERDICT
    assert cache.find_patch(OTHER) is None
    assert cache.find_verdict(KEY) is None
    assert cache.problems == []


def test_a_later_entry_takes_the_place_of_an_earlier_one(cache: Cache) -> None:
    cache.keep_patch(KEY, patch("one"))
    cache.keep_patch(KEY, patch("two"))
    found = cache.find_patch(KEY)
    assert found is not None
    assert found.output.patch == "two"


def test_any_changed_byte_makes_it_a_miss(cache: Cache, tmp_path: Path) -> None:
    cache.keep_patch(KEY, patch())
    entry = only_entry(tmp_path)
    whole = entry.read_bytes()
    for place in range(len(whole)):
        data = bytearray(whole)
        data[place] ^= 1
        entry.write_bytes(data)
        assert cache.find_patch(KEY) is None, place
    entry.write_bytes(whole)
    assert cache.find_patch(KEY) == patch()
    # Said once, however often it is met.
    (problem,) = cache.problems
    assert "is not what was written there; it was left out" in problem
    assert events(tmp_path) == ["cache.broken_entry"]


@pytest.mark.parametrize("size", [0, 1, 50, 200, -1, -2])
def test_one_that_was_cut_off_is_a_miss_and_is_replaced(
    cache: Cache, tmp_path: Path, size: int
) -> None:
    cache.keep_patch(KEY, patch())
    entry = only_entry(tmp_path)
    whole = entry.read_bytes()
    entry.write_bytes(whole[:size])
    # The line end after the record says nothing.
    assert (cache.find_patch(KEY) is None) == (size != -1)
    cache.keep_patch(KEY, patch())
    assert entry.read_bytes() == whole
    assert cache.find_patch(KEY) == patch()


def test_an_entry_of_another_key_or_kind_is_none(cache: Cache, tmp_path: Path) -> None:
    cache.keep_patch(KEY, patch())
    entry = only_entry(tmp_path)
    for kind, name in ((PATCHES, OTHER), (VERDICTS, KEY)):
        place = tmp_path / "cache" / kind / name[7:9] / name[9:]
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(entry, place)
    assert cache.find_patch(OTHER) is None
    assert cache.find_verdict(KEY) is None
    assert len(cache.problems) == 2


def test_a_record_of_another_version_is_left_out(cache: Cache) -> None:
    # Whole and checked, but a verdict where a patch is asked for.
    cache._keep(PATCHES, KEY, VERDICT)
    assert cache.find_patch(KEY) is None
    assert "is of another version; it was left out" in cache.problems[0]


def test_a_directory_in_the_place_of_an_entry_is_a_miss(
    cache: Cache, tmp_path: Path
) -> None:
    name = KEY.rpartition(":")[2]
    (tmp_path / "cache" / PATCHES / name[:2] / name[2:]).mkdir(parents=True)
    assert cache.find_patch(KEY) is None
    cache.keep_patch(KEY, patch())
    assert "cannot be read (Is a directory)" in cache.problems[0]
    assert "cannot be written (Is a directory); nothing was kept" in cache.problems[1]


@contextlib.contextmanager
def not_root() -> Iterator[None]:
    """Give up root's rights for the block: no directory is read-only for root."""
    uid = os.geteuid()
    if uid == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(uid)


def test_a_read_only_directory_is_read_and_harms_nothing() -> None:
    # Where another user may look, too.
    directory = Path(tempfile.mkdtemp(prefix="codegenie-test-"))
    try:
        Cache(directory / "cache").keep_patch(KEY, patch())
        for path in (directory, *directory.rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)
        cache = Cache(directory / "cache")
        logs.log_to(Path(os.devnull))
        with not_root():
            assert cache.find_patch(KEY) == patch()
            cache.keep_patch(KEY, patch("new"))
            cache.keep_patch(OTHER, patch("new"))
        # Each reason is said once.
        (problem,) = cache.problems
        assert "cannot be written (Permission denied); nothing was kept" in problem
        found = cache.find_patch(KEY)
        assert found is not None
        assert found.output.patch == "diff"
    finally:
        logs.log_to(None)
        for path in (directory, *directory.rglob("*")):
            path.chmod(0o755)
        shutil.rmtree(directory)


def test_a_full_disk_leaves_the_entry_that_was_there(
    cache: Cache, tmp_path: Path
) -> None:
    cache.keep_patch(KEY, patch("small"))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    logs.log_to(Path(os.devnull))
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        cache.keep_patch(KEY, patch("large" * 2000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "cannot be written (File too large)" in cache.problems[0]
    found = cache.find_patch(KEY)
    assert found is not None
    assert found.output.patch == "small"
    # Nothing is left of what was begun.
    assert only_entry(tmp_path).read_bytes().count(b"\n") == 2


def test_writers_and_readers_at_once_see_whole_entries(cache: Cache) -> None:
    texts = {letter * 50_000 for letter in "abc"}
    stop = threading.Event()

    def write(text: str) -> None:
        while not stop.is_set():
            cache.keep_patch(KEY, patch(text))

    writers = [threading.Thread(target=write, args=(text,)) for text in texts]
    cache.keep_patch(KEY, patch("a" * 50_000))
    for thread in writers:
        thread.start()
    try:
        found = [cache.find_patch(KEY) for _ in range(200)]
    finally:
        stop.set()
        for thread in writers:
            thread.join()
    assert cache.problems == []
    assert {one.output.patch for one in found if one} <= texts
    assert None not in found


# -- letting go ------------------------------------------------------------------------


def kept(name: str, age: float, size: int, *, abandoned: bool = False) -> Kept:
    """An entry that was used ``age`` seconds before time 1,000,000."""
    return Kept(Path(name), PATCHES, size, 1e6 - age, abandoned=abandoned)


def names(chosen: list[Kept]) -> list[str]:
    return [one.path.name for one in chosen]


def test_a_hit_makes_an_entry_the_most_recently_used(
    cache: Cache, tmp_path: Path
) -> None:
    cache.keep_patch(KEY, patch())
    os.utime(only_entry(tmp_path), (1000, 1000))
    assert next(list_kept(tmp_path / "cache")).used_at == 1000
    assert cache.find_patch(KEY) is not None
    assert next(list_kept(tmp_path / "cache")).used_at > 1_700_000_000


def test_what_nobody_used_for_long_goes() -> None:
    entries = [kept("new", 10, 1), kept("old", 100, 1), kept("older", 200, 1)]
    for seconds, gone in ((150, ["older"]), (50, ["older", "old"]), (300, [])):
        age = dt.timedelta(seconds=seconds)
        assert names(choose_for_removal(entries, older_than=age, now=1e6)) == gone


def test_the_least_recently_used_goes_until_the_rest_is_small_enough() -> None:
    entries = [kept("a", 30, 40), kept("b", 10, 40), kept("c", 20, 40)]
    for limit, gone in ((120, []), (119, ["a"]), (80, ["a"]), (79, ["a", "c"])):
        assert names(choose_for_removal(entries, max_bytes=limit, now=1e6)) == gone
    assert names(choose_for_removal(entries, max_bytes=0, now=1e6)) == ["a", "c", "b"]


def test_both_reasons_together() -> None:
    entries = [kept("a", 300, 40), kept("b", 20, 40), kept("c", 10, 40)]
    age = dt.timedelta(seconds=100)
    chosen = choose_for_removal(entries, older_than=age, max_bytes=40, now=1e6)
    assert names(chosen) == ["a", "b"]


def test_what_a_killed_writer_left_goes_once_nobody_can_be_writing_it() -> None:
    entries = [
        kept(".k.now", 5, 9, abandoned=True),
        kept(".k.old", 4000, 9, abandoned=True),
        kept("k", 5, 1),
    ]
    assert names(choose_for_removal(entries, now=1e6)) == [".k.old"]
    # It is no entry, so it is not counted as one.
    assert names(choose_for_removal(entries, max_bytes=1, now=1e6)) == [".k.old"]


def test_removed_entries_are_misses_and_others_stay(
    cache: Cache, tmp_path: Path
) -> None:
    cache.keep_patch(KEY, patch())
    cache.keep_patch(OTHER, patch())
    entries = list(list_kept(tmp_path / "cache"))
    assert [one.size for one in entries] == [entries[0].path.stat().st_size] * 2
    assert remove(one for one in entries if KEY[9:] in str(one.path)) == []
    assert cache.find_patch(KEY) is None
    assert cache.find_patch(OTHER) == patch()
    # What somebody else has removed meanwhile is no fault.
    assert remove(entries) == []
    assert list(list_kept(tmp_path / "cache")) == []


def test_there_need_not_be_a_cache(tmp_path: Path) -> None:
    assert list(list_kept(tmp_path / "nowhere")) == []
