"""Finding what a program consists of, without running it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pytest_codegenie.agents.installation import find_installation


def _program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


def test_a_package_of_npm_needs_its_modules_and_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = _program(tmp_path / "node" / "bin" / "node", "\x7fELF")
    modules = tmp_path / "prefix" / "lib" / "node_modules"
    script = _program(
        modules / "@acme" / "agent" / "dist" / "cli.js", "#!/usr/bin/env -S node\n"
    )
    (modules / "@acme" / "agent" / "package.json").write_text('{"version": "1.2.3"}')
    link = tmp_path / "prefix" / "bin" / "acme"
    link.parent.mkdir()
    link.symlink_to(script)
    monkeypatch.setenv("PATH", f"{link.parent}:{node.parent}")
    found = find_installation("acme")
    assert found is not None
    assert found.command == (str(node), str(script))
    assert found.places == (modules, tmp_path / "node")
    assert found.version == "1.2.3"


def test_a_binary_in_a_package_needs_its_modules_alone(tmp_path: Path) -> None:
    """Also where the script of npm's was replaced by a link to the binary."""
    modules = tmp_path / "node_modules"
    binary = _program(modules / "acme" / "bin" / "acme", "\x7fELF")
    (modules / "acme" / "package.json").write_text('{"version": "4"}')
    found = find_installation(str(binary))
    assert found is not None
    assert found.command == (str(binary),)
    assert found.places == (modules,)
    assert found.version == "4"


def test_a_script_of_a_virtual_environment_needs_it_and_its_python(
    tmp_path: Path,
) -> None:
    venv = tmp_path / "venv"
    python = venv / "bin" / "python3"
    script = _program(venv / "bin" / "acme", f"#!{python}\n")
    python.symlink_to(Path(sys.executable).resolve())
    (venv / "pyvenv.cfg").touch()
    info = venv / "lib" / "python3.11" / "site-packages" / "acme_agent-2.0.dist-info"
    info.mkdir(parents=True)
    (info / "entry_points.txt").write_text("[console_scripts]\nacme = acme:main\n")
    found = find_installation(str(script))
    assert found is not None
    assert found.command == (str(python), str(script))
    assert found.places[:2] == (script, venv)
    assert Path(sys.executable).resolve().is_relative_to(found.places[2])
    assert found.version == "2.0"


def test_a_plain_binary_is_itself(tmp_path: Path) -> None:
    binary = _program(tmp_path / "acme", "\x7fELF")
    found = find_installation(str(binary))
    assert found is not None
    assert found.command == (str(binary),)
    assert found.places == (binary,)
    assert found.version is None


@pytest.mark.parametrize("name", ["no-such-program-at-all", "/nowhere/acme", ""])
def test_what_is_not_there_is_not_found(name: str) -> None:
    assert find_installation(name) is None


def test_a_package_json_that_is_broken_is_no_version(tmp_path: Path) -> None:
    modules = tmp_path / "node_modules"
    binary = _program(modules / "acme" / "acme", "\x7fELF")
    (modules / "acme" / "package.json").write_text("{")
    found = find_installation(str(binary))
    assert found is not None
    assert found.version is None
