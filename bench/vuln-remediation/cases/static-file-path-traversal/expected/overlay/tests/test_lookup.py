"""What is published stays reachable, however odd its name."""

from pathlib import Path

import pytest

from quayside import DocsApp, Settings


@pytest.mark.parametrize(
    "name",
    [
        "1.9..2.0.html",
        "..draft.html",
        "trailing...html",
        "guide/...html",
        "a~b.html",
        "%2e%2e.html",
        "größe.html",
    ],
    ids=["dots-inside", "dots-first", "dots-last", "only-dots"]
    + ["tilde", "percent", "not-ascii"],
)
def test_odd_names_are_served(client, base, name):
    (base / "public" / name).write_bytes(b"odd")
    answer = client.get(f"/{name}")
    assert (answer.status, answer.body) == (200, b"odd")


@pytest.mark.parametrize(
    "path", ["/....//publish.toml", "/..../publish.toml"], ids=["two-slashes", "one"]
)
def test_dots_are_only_a_name(client, base, path):
    (base / "publish.toml").write_bytes(b"secret")
    assert client.get(path).status == 404


def test_site_folder_may_be_a_link(client, base):
    build = base / "builds" / "17"
    build.parent.mkdir()
    (base / "public").rename(build)
    (base / "public").symlink_to(build)
    assert client.get("/guide/").body == b"<h1>Guide</h1>"
    assert client.get("/guide").status == 301


def test_type_is_that_of_the_name_asked_for(client, base):
    (base / "public" / "site.css.2026-09-30").write_bytes(b"a {}")
    (base / "public" / "newest.css").symlink_to("site.css.2026-09-30")
    headers = client.get("/newest.css").headers
    assert headers["Content-Type"] == "text/css; charset=utf-8"
    assert headers["Cache-Control"] == "public, max-age=86400"


def test_site_link_may_move_while_the_server_runs(client, base):
    (base / "public").rename(base / "17")
    (base / "public").symlink_to("17")
    assert client.get("/").body == b"<h1>Home</h1>"
    (base / "18").mkdir()
    (base / "18" / "index.html").write_bytes(b"18")
    (base / "public").unlink()
    (base / "public").symlink_to("18")
    assert client.get("/").body == b"18"


def test_site_given_relative_to_the_working_directory(client, base, monkeypatch):
    monkeypatch.chdir(base)
    client.app = DocsApp(Settings(site=Path("public")))
    assert client.get("/guide/first steps.html").status == 200


def test_no_sources_published(client, base):
    client.app = DocsApp(Settings(site=base / "public"))
    assert client.get("/_source/guide/index.rst").status == 404


def test_source_name_with_a_nul_byte(client):
    assert client.get("/_source/\x00").status == 404
