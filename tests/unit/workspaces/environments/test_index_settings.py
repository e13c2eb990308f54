"""The user's settings for pip hold for uv too, and nothing else gets through."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_codegenie.workspaces.environments.index_settings import IndexSettings


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in os.environ:
        if name.startswith(("PIP_", "UV_", "SSL_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_DIRS", str(tmp_path / "shared"))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)


def write_pip_conf(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True)
    path.write_text(text, "utf-8")


def test_pips_files_and_variables_are_told_to_uv(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("PIP_CONFIG_FILE")
    write_pip_conf(
        tmp_path / ".pip" / "pip.conf",
        "[global]\nindex-url = https://old\n"
        "extra_index_url =\n  https://a\n  https://b\n",
    )
    write_pip_conf(
        tmp_path / ".config" / "pip" / "pip.conf",
        "[install]\nindex-url = https://own\nno-binary = x,y\n",
    )
    monkeypatch.setenv("PIP_FIND_LINKS", "/one /two")
    settings = IndexSettings.of_user()
    # The machine may have a pip.conf of its own besides.
    assert (
        settings.for_uv().items()
        >= {
            "UV_DEFAULT_INDEX": "https://own",
            "UV_EXTRA_INDEX_URL": "https://a https://b",
            "UV_FIND_LINKS": "/one,/two",
            "UV_INDEX_STRATEGY": "unsafe-best-match",
        }.items()
    )
    assert settings.uv_options() == ["--no-binary=x", "--no-binary=y"]


def test_settings_for_uv_come_before_those_for_pip(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "https://pip")
    monkeypatch.setenv("UV_INDEX_URL", "https://uv")
    settings = IndexSettings.of_user()
    assert settings.for_uv() == {}
    assert settings.variables["UV_INDEX_URL"] == "https://uv"


def test_a_broken_pip_conf_is_for_pip_to_complain_of(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "pip.conf"
    path.write_text("no section\n", "utf-8")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(path))
    assert "UV_DEFAULT_INDEX" not in IndexSettings.of_user().for_uv()


def test_how_the_network_is_reached_does_not_make_another_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = IndexSettings.of_user().fingerprint()
    monkeypatch.setenv("https_proxy", "http://proxy")
    monkeypatch.setenv("PIP_DEFAULT_TIMEOUT", "5")
    monkeypatch.setenv("UV_HTTP_TIMEOUT", "5")
    settings = IndexSettings.of_user()
    assert settings.variables["https_proxy"] == "http://proxy"
    assert settings.fingerprint() == before
    monkeypatch.setenv("PIP_PRE", "1")
    assert IndexSettings.of_user().fingerprint() != before


def test_a_constraint_file_decides_by_its_content(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "constraints.txt"
    path.write_text("a<1\n", "utf-8")
    monkeypatch.setenv("PIP_CONSTRAINT", str(path))
    before = IndexSettings.of_user().fingerprint()
    path.write_text("a<2\n", "utf-8")
    assert IndexSettings.of_user().fingerprint() != before


def test_directories_that_are_named_can_be_read_in_a_sandbox(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("UV_FIND_LINKS", f"{tmp_path},file://{tmp_path}/shared,/none")
    (tmp_path / "shared").mkdir()
    assert set(IndexSettings.of_user().paths()) >= {tmp_path, tmp_path / "shared"}
    assert Path(os.devnull) not in IndexSettings.of_user().paths()
