"""The example packages are installed, used and tested as their pages say."""

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


#: The package, its page, the modules that the page has to quote, and how many commands
#: it has at the least.
EXAMPLES = [
    ("my-agent-plugin", "write-an-agent", ("plugin", "agent", "reporter"), 8),
    ("my-dataset-plugin", "write-a-dataset", ("plugin", "dataset"), 7),
]
each_package = pytest.mark.parametrize(
    ("name", "page", "modules", "commands"), EXAMPLES, ids=[row[0] for row in EXAMPLES]
)


def quoted(name: str, page: str) -> dict[str, str]:
    """Return the files of a package that its page quotes, by their paths in it."""
    blocks = read_blocks(DOCS / "how-to" / f"{page}.md")
    return {
        block.title.removeprefix(f"{name}/"): block.text
        for block in blocks
        if block.title.startswith(f"{name}/")
    }


@each_package
def test_what_the_page_quotes_is_what_is_there(
    name: str, page: str, modules: tuple[str, ...], commands: int
) -> None:
    files = quoted(name, page)
    source = f"src/{name.replace('-', '_')}"
    assert set(files) >= {
        "pyproject.toml",
        *(f"{source}/{module}.py" for module in modules),
    }
    for path, text in files.items():
        there = DOCS / "examples" / name / path
        assert text == there.read_text(encoding="utf-8"), path


@each_package
def test_the_package_imports_nothing_where_it_is_not_used(
    name: str, page: str, modules: tuple[str, ...], commands: int
) -> None:
    module = f"{name.replace('-', '_')}/plugin.py"
    text = (DOCS / "examples" / name / "src" / module).read_text(encoding="utf-8")
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
@each_package
def test_the_page_works_from_installing_it_to_its_own_tests(
    tmp_path: Path,
    programs: Path,
    name: str,
    page: str,
    modules: tuple[str, ...],
    commands: int,
) -> None:
    reader = tmp_path / "reader"
    copied = shutil.copytree(
        DOCS / "examples" / name,
        reader / name,
        ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"),
    )
    before = {path: path.read_bytes() for path in copied.rglob("*") if path.is_file()}
    taken = Walk(reader, programs=programs).take(DOCS / "how-to" / f"{page}.md")
    assert taken >= commands
    # The page's files are the package's: writing them changed nothing.
    assert {path: path.read_bytes() for path in before} == before
    assert name.replace("-", "_") not in sys.modules
