"""What the prompts say, from outside."""

import json
import subprocess
import sys

import pytest

from ttlcache import TTLCache
from ttlcache.cli import main
from ttlcache.storage import StorageError
from ttlcache.storage import load
from ttlcache.storage import save


class Clock:
    def __init__(self, now=100.0):
        self.now = now

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def test_an_entry_is_gone_exactly_at_its_end(clock):
    cache = TTLCache(10, clock=clock)
    cache.set("a", "x")
    clock.now = 109.999
    assert cache.get("a") == "x"
    clock.now = 110.0
    assert cache.get("a", "gone") == "gone"


def test_none_is_a_value(clock):
    cache = TTLCache(10, clock=clock)
    cache.set("a", None)
    assert cache.get("a", "default") is None
    assert "a" in cache


def test_an_own_time_may_be_shorter_or_longer(clock):
    cache = TTLCache(10, clock=clock)
    cache.set("short", 1, ttl_seconds=1)
    cache.set("long", 1, ttl_seconds=100)
    clock.now = 105
    assert cache.keys() == ["long"]


@pytest.mark.parametrize("seconds", [0, -0.5])
def test_a_time_has_to_be_positive(seconds):
    with pytest.raises(ValueError):
        TTLCache(seconds)
    with pytest.raises(ValueError):
        TTLCache(1).set("a", 1, ttl_seconds=seconds)


def test_nobody_has_to_ask_for_an_entry_to_expire(clock):
    cache = TTLCache(10, clock=clock)
    cache.set("a", 1)
    cache.set("b", 1)
    clock.now = 110
    cache.set("c", 1)
    assert len(cache) == 1
    assert cache.keys() == ["c"]
    assert "a" not in cache
    assert not cache.delete("b")
    assert cache.purge() in (1, 2)
    assert cache.purge() == 0


def test_the_least_recently_used_entry_goes(clock):
    cache = TTLCache(10, max_size=3, clock=clock)
    for key in "abc":
        cache.set(key, key)
    cache.get("a")
    cache.set("b", "again")
    cache.set("d", "d")
    assert sorted(cache.keys()) == ["a", "b", "d"]
    cache.get("missing")
    cache.set("e", "e")
    assert sorted(cache.keys()) == ["b", "d", "e"]


def test_what_has_expired_makes_room_first(clock):
    cache = TTLCache(10, max_size=2, clock=clock)
    cache.set("long", 1, ttl_seconds=100)
    cache.set("short", 1, ttl_seconds=1)
    clock.now = 101
    cache.set("new", 1)
    assert sorted(cache.keys()) == ["long", "new"]


def test_a_size_of_one_and_of_none(clock):
    cache = TTLCache(10, max_size=1, clock=clock)
    cache.set("a", 1)
    cache.set("b", 1)
    assert cache.keys() == ["b"]
    with pytest.raises(ValueError):
        TTLCache(10, max_size=0)


def test_what_is_left_of_a_time_survives(tmp_path, clock):
    path = tmp_path / "c.json"
    cache = TTLCache(10, clock=clock)
    cache.set("a", {"x": [1, None]}, ttl_seconds=50)
    cache.set("b", 2)
    clock.now = 105
    save(cache, path, now=lambda: 5000.0)
    again = TTLCache(1, clock=Clock(0.0))
    load(again, path, now=lambda: 5005.0)
    assert again.entries() == [("a", {"x": [1, None]}, pytest.approx(40))]


def test_a_missing_file_and_broken_ones(tmp_path):
    cache = TTLCache(1)
    load(cache, tmp_path / "none.json")
    assert len(cache) == 0
    path = tmp_path / "broken.json"
    for text in ("", "null", "[1]", '{"a": {}}', "{"):
        path.write_text(text)
        with pytest.raises(StorageError, match="broken.json"):
            load(cache, path)


def test_a_save_that_fails_changes_nothing(tmp_path):
    path = tmp_path / "c.json"
    cache = TTLCache(100)
    cache.set("a", 1)
    save(cache, path)
    before = path.read_bytes()
    cache.set("bad", {1, 2})
    with pytest.raises(TypeError):
        save(cache, path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    assert json.loads(before)


def test_the_command(tmp_path, capsys):
    file = ["--file", str(tmp_path / "c.json")]
    assert main([*file, "get", "a"]) == 1
    assert main([*file, "set", "b", "2"]) == 0
    assert main([*file, "set", "a", "one"]) == 0
    assert capsys.readouterr().out == ""
    assert main([*file, "get", "a"]) == 0
    assert main([*file, "list"]) == 0
    assert capsys.readouterr().out == "one\na\nb\n"
    assert main([*file, "delete", "a"]) == 0
    assert main([*file, "delete", "a"]) == 1
    assert main([*file, "set", "a", "1", "--ttl", "0"]) == 2
    assert capsys.readouterr().err.strip()


def test_the_module_starts(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "ttlcache", "--file", str(tmp_path / "c"), "nonsense"],
        capture_output=True,
        cwd="src",
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr
