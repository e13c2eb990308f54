"""The example package is installed, used and tested as its page says."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import shutil
import sys
import sysconfig
import venv
from pathlib import Path

import pytest
from examples.conftest import DOCS
from examples.conftest import Walk
from examples.conftest import read_blocks


PACKAGE = DOCS / "examples" / "my-agent-plugin"
PAGE = DOCS / "how-to" / "write-an-agent.md"


def quoted() -> dict[str, str]:
    """Return the files of the package that the page quotes, by their paths in it."""
    titles = ((block.title, block.text) for block in read_blocks(PAGE))
    return {
        title.removeprefix(f"{PACKAGE.name}/"): text
        for title, text in titles
        if title.startswith(f"{PACKAGE.name}/")
    }


def test_what_the_page_quotes_is_what_is_there() -> None:
    files = quoted()
    assert set(files) >= {
        "pyproject.toml",
        *(f"src/my_agent_plugin/{name}.py" for name in ("plugin", "agent", "reporter")),
    }
    for name, text in files.items():
        assert text == (PACKAGE / name).read_text(encoding="utf-8"), name


def test_the_package_imports_nothing_where_it_is_not_used() -> None:
    text = (PACKAGE / "src/my_agent_plugin/plugin.py").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if "import" in line.split(" ")]
    assert lines == ["from __future__ import annotations"]


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """Where programs of a new environment are; it has what the tests have, and pip."""
    place = tmp_path / "environment"
    venv.create(place, with_pip=False, symlinks=True)
    names = {"base": str(place), "platbase": str(place)}
    site_packages = Path(sysconfig.get_path("purelib", "venv", names))
    ours = sysconfig.get_path("purelib")
    # As a site's own, so that what is installed as editable is found as well.
    line = f"import site; site.addsitedir({ours!r})\n"
    site_packages.joinpath("tests.pth").write_text(line, encoding="utf-8")
    python = place / "bin" / "python"
    for name, module, options in (
        ("codegenie", "pytest_codegenie.cli", ""),
        ("pytest", "pytest", ""),
        # From what is here: nothing is fetched.
        ("pip", "pip", "--no-deps --no-build-isolation --no-index"),
    ):
        script = place / "bin" / name
        script.write_text(
            f'#!/bin/sh\nexec "{python}" -m {module} "$@" {options}\n', encoding="utf-8"
        )
        script.chmod(0o755)
    return place / "bin"


def fault() -> str:
    """Return why a package cannot be built here without fetching anything; or ""."""
    if importlib.util.find_spec("pip") is None:
        return "pip is not installed"
    try:
        version = importlib.metadata.version("setuptools")
    except importlib.metadata.PackageNotFoundError:
        version = "0"
    if int(version.partition(".")[0]) < 77:
        return "needs setuptools 77: pip install 'pytest-codegenie[test]'"
    return ""


@pytest.mark.skipif(bool(fault()), reason=fault())
def test_the_page_works_from_installing_it_to_its_own_tests(
    tmp_path: Path, programs: Path
) -> None:
    reader = tmp_path / "reader"
    copied = shutil.copytree(
        PACKAGE,
        reader / PACKAGE.name,
        ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"),
    )
    before = {path: path.read_bytes() for path in copied.rglob("*") if path.is_file()}
    assert Walk(reader, programs=programs).take(PAGE) >= 8
    # The page's files are the package's: writing them changed nothing.
    assert {path: path.read_bytes() for path in before} == before
    assert "my_agent_plugin" not in sys.modules
