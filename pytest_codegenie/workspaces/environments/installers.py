"""Who installs packages: uv where it is installed, else pip."""

from __future__ import annotations

import shutil
import sysconfig
from collections.abc import Iterable
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import parse_wheel_filename

from pytest_codegenie.workspaces.environments.index_settings import IndexSettings
from pytest_codegenie.workspaces.environments.interpreters import Interpreter


@dataclass(frozen=True, slots=True)
class Installer:
    """Makes virtual environments and installs into them."""

    #: uv's program; None: the environment's pip installs.
    uv: Path | None

    @property
    def name(self) -> str:
        """Return what a decision calls it."""
        return "pip" if self.uv is None else "uv"

    def make_venv(self, interpreter: Interpreter, venv: Path) -> list[list[str]]:
        """Return the commands that make an environment.

        uv or not, it has what ``venv`` puts into it: the pip, and the setuptools of
        old, that come with the interpreter. Old projects rely on them unasked, and no
        index has to have them.
        """
        executable = interpreter.executable
        if self.uv is None:
            return [[executable, "-I", "-m", "venv", str(venv)]]
        make = [str(self.uv), "venv", "--no-project", "--python", executable]
        wheels = _bundled_wheels(interpreter)
        if not wheels:
            return [[*make, "--seed", str(venv)]]
        python = str(venv / "bin" / "python")
        install = [str(self.uv), "pip", "install", "--python", python]
        options = ["--no-config", "--no-index", "--no-deps"]
        return [[*make, str(venv)], [*install, *options, *wheels]]

    def install(
        self, venv: Path, arguments: Sequence[str], settings: IndexSettings
    ) -> list[str]:
        """Return the command that installs, as ``pip install`` is told what."""
        python = str(venv / "bin" / "python")
        if self.uv is None:
            return [python, "-m", "pip", "install", *arguments]
        options = ["--python", python, *settings.uv_options()]
        return [str(self.uv), "pip", "install", *options, *arguments]

    def variables(self, cache: Path, settings: IndexSettings) -> dict[str, str]:
        """Return what both tools get from us, for the commands of a case too.

        Args:
            cache: For downloads, shared by all builds.
            settings: The user's.
        """
        variables = {
            "PIP_CACHE_DIR": str(cache / "pip"),
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_NO_INPUT": "1",
            "PIP_ROOT_USER_ACTION": "ignore",
            "UV_CACHE_DIR": str(cache / "uv"),
            # A hard link to the cache would be changed with the environment.
            "UV_LINK_MODE": "copy",
            "UV_PYTHON_DOWNLOADS": "never",
            "UV_NO_PROGRESS": "1",
        }
        return variables | settings.for_uv()


def find_installer() -> Installer:
    """Return what installs here."""
    return Installer(find_uv())


def find_uv() -> Path | None:
    """Return uv's program, of this installation or on PATH; None: there is none."""
    own = Path(sysconfig.get_path("scripts"), "uv")
    if own.is_file():
        return own
    found = shutil.which("uv")
    return Path(found).resolve() if found else None


def _bundled_wheels(interpreter: Interpreter) -> list[str]:
    """Return what ``ensurepip`` would install; empty where Debian left it out."""
    minor = ".".join(interpreter.version.split(".")[:2])
    places = [
        Path(interpreter.prefix, "lib", f"python{minor}", "ensurepip", "_bundled")
    ]
    if interpreter.prefix == "/usr":
        places.append(Path("/usr/share/python-wheels"))
    for place in places:
        found = (_newest(place.glob(f"{name}-*.whl")) for name in ("pip", "setuptools"))
        wheels = [str(path) for path in found if path is not None]
        if wheels:
            return wheels
    return []


def _newest(wheels: Iterable[Path]) -> Path | None:
    """Return the wheel of the latest version: some Pythons come with two of pip."""
    return max(
        wheels, key=lambda path: parse_wheel_filename(path.name)[1], default=None
    )
