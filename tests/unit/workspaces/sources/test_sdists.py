"""An sdist is found as pip's settings say, and is what was asked for."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support_sources import FILES
from support_sources import Served
from support_sources import contents
from support_sources import make_sdist
from support_sources import make_tar

from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.workspaces.sources.downloads import download
from pytest_codegenie.workspaces.sources.sdists import Sdist
from pytest_codegenie.workspaces.sources.sdists import find_sdists


UseIndex = Callable[..., None]


def _index(root: Path, name: str, page: str) -> Path:
    """Write a page of a simple index; return the index's directory."""
    (root / "simple" / name).mkdir(parents=True)
    (root / "simple" / name / "index.html").write_text(page, encoding="utf-8")
    return root / "simple"


def test_a_directory_with_files_is_an_index(
    tmp_path: Path, use_index: UseIndex
) -> None:
    sha256 = make_sdist(tmp_path / "My_Project-1.0.tar.gz")
    make_sdist(tmp_path / "my_project-1.1.tar.gz")
    (tmp_path / "my_project-1.0-py3-none-any.whl").touch()
    use_index(PIP_NO_INDEX="1", PIP_FIND_LINKS=str(tmp_path))
    tree = Sdist("my-project", "1.0.0", sha256).fetch(_new(tmp_path), 60)
    assert contents(tree) == FILES


def test_a_page_of_this_machine(tmp_path: Path, use_index: UseIndex) -> None:
    sha256 = make_sdist(tmp_path / "b-1.0.tar.gz")
    page = (
        '<a href="../../b-1.0-py3-none-any.whl">b</a><A\nHREF="../../b-1.0.tar.gz'
        f'#sha256={sha256.upper()}" data-yanked="">b</A>'
    )
    index = _index(tmp_path, "b", page)
    use_index(PIP_INDEX_URL=index.as_uri())
    (link,) = find_sdists("b", "1.0")
    assert (link.url, link.sha256) == ((tmp_path / "b-1.0.tar.gz").as_uri(), sha256)
    assert contents(Sdist("b", "1.0", sha256).fetch(_new(tmp_path), 60)) == FILES


def test_a_server_that_wants_a_password_and_answers_in_json(
    tmp_path: Path, served: Served, use_index: UseIndex
) -> None:
    sha256 = make_sdist(served.directory / "json_one-1.0.tar.gz")
    files = [
        {"filename": "x", "url": "../../json_one-1.0.zip", "hashes": {}},
        {
            "filename": "y",
            "url": "/moved/json_one-1.0.tar.gz",
            "hashes": {"sha256": sha256},
        },
    ]
    _index(served.directory, "json-one", json.dumps({"files": files}))
    use_index(PIP_INDEX_URL=served.url.replace("//", "//me:se%20cret@") + "/simple/")
    tree = Sdist("json-one", "1.0", sha256).fetch(_new(tmp_path), 60)
    assert contents(tree) == FILES
    basic = "Basic bWU6c2UgY3JldA=="
    assert served.seen == [
        ("/simple/json-one/", basic),
        ("/moved/json_one-1.0.tar.gz", basic),
        # Where the server sends us gets no password.
        ("/json_one-1.0.tar.gz", ""),
    ]


def test_the_next_place_is_asked_where_one_has_nothing(
    tmp_path: Path, served: Served, use_index: UseIndex
) -> None:
    sha256 = make_sdist(tmp_path / "b-1.0.tar.gz")
    index = _index(tmp_path, "b", '<a href="../../b-1.0.tar.gz">b</a>')
    _index(tmp_path / "empty", "other", "")
    use_index(
        PIP_INDEX_URL=f"{served.url}/simple",
        PIP_EXTRA_INDEX_URL=f"{tmp_path / 'empty/simple'} {index.as_uri()}/",
    )
    tree = Sdist("b", "1.0", sha256).fetch(_new(tmp_path), 60)
    assert contents(tree) == FILES
    assert [path for path, _ in served.seen] == ["/simple/b/"]


def test_of_two_that_differ_the_one_with_the_hash_is_taken(
    tmp_path: Path, use_index: UseIndex
) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    make_tar(tmp_path / "one/b-1.0.tar.gz", {"b-1.0/x": b"other"})
    sha256 = make_sdist(tmp_path / "two/b-1.0.tar.gz")
    page = f'<a href="../../b-1.0.tar.gz#sha256={"0" * 64}">b</a>'
    one = _index(tmp_path / "one", "b", page)
    two = _index(tmp_path / "two", "b", page.replace("0" * 64, sha256))
    use_index(UV_DEFAULT_INDEX=one.as_uri(), UV_INDEX=f"mine={two.as_uri()}")
    assert contents(Sdist("b", "1.0", sha256).fetch(_new(tmp_path), 60)) == FILES


def test_what_no_index_has_is_said_with_the_places(
    tmp_path: Path, served: Served, use_index: UseIndex
) -> None:
    url = served.url.replace("//", "//me:hunter2@")
    use_index(PIP_INDEX_URL=url, PIP_FIND_LINKS=str(tmp_path))
    with pytest.raises(WorkspaceUnavailable) as caught:
        Sdist("b", "1.0", "0" * 64).fetch(_new(tmp_path), 60)
    assert caught.value.reason == (
        "no index has sdist:b==1.0 as a source distribution; asked: "
        f"{served.url}, {tmp_path} (the settings of pip or uv, such as PIP_INDEX_URL)"
    )


def test_where_nobody_names_an_index_it_is_the_one_that_pip_asks(
    tmp_path: Path, use_index: UseIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_index()
    pips = pytest.importorskip("pip._internal.models.index", reason="needs pip").PyPI
    monkeypatch.setattr(pips, "simple_url", tmp_path.as_uri())
    with pytest.raises(WorkspaceUnavailable) as caught:
        Sdist("b", "1.0", "0" * 64).fetch(_new(tmp_path), 60)
    assert f"asked: {tmp_path.as_uri()} (" in caught.value.reason
    monkeypatch.setitem(sys.modules, "pip._internal.models.index", None)
    with pytest.raises(WorkspaceUnavailable) as caught:
        Sdist("b", "1.0", "0" * 64).fetch(tmp_path / "again", 60)
    assert "asked: none (" in caught.value.reason


@pytest.mark.parametrize("sha256", ["", "0" * 64])
def test_the_hash_that_it_has_is_said(
    tmp_path: Path, use_index: UseIndex, sha256: str
) -> None:
    found = make_sdist(tmp_path / "b-1.0.tar.gz")
    use_index(PIP_NO_INDEX="yes", PIP_FIND_LINKS=f"{tmp_path}/")
    with pytest.raises(WorkspaceUnavailable) as caught:
        Sdist("b", "1.0", sha256).fetch(_new(tmp_path), 60)
    assert "sdist:b==1.0 (file://" in caught.value.reason
    said = f"computed sha256:{found}" if sha256 else f"today it has {found}"
    assert said in caught.value.reason


def test_a_place_that_cannot_be_reached_is_no_empty_place(
    tmp_path: Path, served: Served, use_index: UseIndex
) -> None:
    use_index(PIP_INDEX_URL="http://127.0.0.1:9/simple")
    with pytest.raises(WorkspaceUnavailable) as caught:
        Sdist("b", "1.0", "0" * 64).fetch(_new(tmp_path), 60)
    assert "http://127.0.0.1:9/simple/b/: cannot be fetched: " in caught.value.reason
    assert "without the network, name an archive of this machine" in str(caught.value)


def test_a_page_that_is_none_is_said(
    tmp_path: Path, served: Served, use_index: UseIndex
) -> None:
    _index(served.directory, "json-one", '{"files": [1]}')
    use_index(PIP_INDEX_URL=f"{served.url}/simple")
    with pytest.raises(WorkspaceUnavailable, match="no page of a package index"):
        Sdist("json-one", "1.0", "0" * 64).fetch(_new(tmp_path), 60)


def test_a_download_is_whole_or_an_error(tmp_path: Path, served: Served) -> None:
    (served.directory / "file").write_bytes(b"x" * 1000)
    target = tmp_path / "got"
    sha256 = download(f"{served.url}/file#frag", target, 60)
    assert sha256 == hashlib.sha256(b"x" * 1000).hexdigest()
    assert target.read_bytes() == b"x" * 1000
    with pytest.raises(WorkspaceUnavailable, match=r"/none: the server says 404"):
        download(f"{served.url}/none", tmp_path / "none", 60)
    with pytest.raises(WorkspaceUnavailable, match=r"within 0 seconds .*setup_timeout"):
        download(f"{served.url}/file", tmp_path / "late", 0)
    with pytest.raises(WorkspaceUnavailable, match="is no URL with https, http, file"):
        download("ftp://127.0.0.1/x", tmp_path / "ftp", 60)


def _new(tmp_path: Path) -> Path:
    directory = tmp_path / "work"
    directory.mkdir()
    return directory
