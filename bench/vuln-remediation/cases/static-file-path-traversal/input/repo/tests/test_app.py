import pytest


def test_page_is_served_with_type_and_length(client):
    answer = client.get("/guide/index.html")
    assert (answer.status, answer.body) == (200, b"<h1>Guide</h1>")
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert answer.headers["Content-Length"] == "14"


@pytest.mark.parametrize(
    "path", ["/", "/index.html", ""], ids=["folder", "file", "empty"]
)
def test_home_page(client, path):
    assert client.get(path).body == b"<h1>Home</h1>"


def test_folder_without_slash_is_redirected(client):
    answer = client.get("/guide")
    assert answer.status == 301
    assert answer.headers["Location"] == "/guide/"


def test_name_with_a_space(client):
    assert client.get("/guide/first steps.html").status == 200


def test_folder_without_index_is_not_listed(client):
    assert client.get("/static/").status == 404
    assert client.get("/static").status == 404


def test_head_has_headers_and_no_body(client):
    answer = client.request("/static/site.css", method="HEAD")
    assert answer.body == b""
    assert answer.headers["Content-Length"] == "7"


def test_other_methods_are_refused(client):
    answer = client.request("/index.html", method="POST")
    assert answer.status == 405
    assert answer.headers["Allow"] == "GET, HEAD"


@pytest.mark.parametrize(
    "path",
    ["/nothing.html", "/guide/\x00.html", "/\ufffd"],
    ids=["name", "nul-byte", "not-utf-8"],
)
def test_missing_page_uses_the_page_of_the_site(client, path):
    answer = client.get(path)
    assert (answer.status, answer.body) == (404, b"<h1>No such page</h1>")


def test_missing_page_without_one_of_the_site(client, base):
    (base / "public" / "404.html").unlink()
    assert client.get("/nothing.html").body == b"<h1>Not found</h1>\n"


def test_source_is_plain_text(client):
    answer = client.get("/_source/guide/index.rst")
    assert answer.body.startswith(b"Guide")
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"


def test_link_to_the_newest_release(client, base):
    (base / "public" / "2.3").mkdir()
    (base / "public" / "2.3" / "index.html").write_text("2.3", encoding="utf-8")
    (base / "public" / "latest").symlink_to("2.3")
    assert client.get("/latest/").body == b"2.3"
