"""Building an environment: a plan's steps, in a private copy of the tree."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field
from importlib.metadata import PathDistribution
from importlib.metadata import distributions
from pathlib import Path

from pytest_codegenie.trees import copy_file
from pytest_codegenie.trees import copy_tree
from pytest_codegenie.trees import remove_tree
from pytest_codegenie.trees import walk
from pytest_codegenie.workspaces.environments.commands import CommandLine
from pytest_codegenie.workspaces.environments.commands import SetupRun
from pytest_codegenie.workspaces.environments.declared import for_tests
from pytest_codegenie.workspaces.environments.index_settings import IndexSettings
from pytest_codegenie.workspaces.environments.installers import Installer
from pytest_codegenie.workspaces.environments.interpreters import Interpreter
from pytest_codegenie.workspaces.environments.interpreters import prefix_directories
from pytest_codegenie.workspaces.environments.plan import Plan
from pytest_codegenie.workspaces.environments.plan import Step
from pytest_codegenie.workspaces.environments.separating import installed_from
from pytest_codegenie.workspaces.environments.separating import separate
from pytest_codegenie.workspaces.environments.store import EnvironmentRecord
from pytest_codegenie.workspaces.environments.store import Place
from pytest_codegenie.workspaces.protocol import WorkspaceSpec


_SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
#: Of the installers themselves; tests hardly import them.
_LEFT_UNCOMPILED = "site-packages/(pip|setuptools|pkg_resources|wheel)/"
#: By-products of building, which the tree does not need.
_BY_PRODUCTS = (".egg-info", ".eggs", ".pyc", ".pyo", "__pycache__", ".pytest_cache")
_BY_PRODUCTS_OF_ROOT = ("build", "dist", "target")


@dataclass(slots=True)
class Build:
    """One environment in the making."""

    plan: Plan
    interpreter: Interpreter
    installer: Installer
    settings: IndexSettings
    place: Place
    spec: WorkspaceSpec
    run: SetupRun
    _commands: list[str] = field(default_factory=list)
    _decisions: list[str] = field(default_factory=list)

    def __call__(self, source: Path) -> EnvironmentRecord:
        """Build it from the files of a tree; return what came out.

        Raises:
            WorkspaceUnavailable: A command failed.
            OSError: The place cannot be written to.
        """
        started = time.monotonic()
        self.place.clear()
        for path in (self._temporary, self._downloads):
            path.mkdir(parents=True, exist_ok=True)
        if self.plan.needs_tree:
            copy_tree(source, self._tree)
        else:
            self._tree.mkdir()
        self._decisions = [
            f"Python {self.interpreter.version}: {self.interpreter.executable}; "
            f"{self.installer.name} installs",
            *self.plan.decisions,
        ]
        self._install()
        roots = self._separate(source)
        record = EnvironmentRecord(
            interpreter=self.interpreter,
            installer=self.installer.name,
            decisions=tuple(self._decisions),
            commands=tuple(self._commands),
            files=dict(self.plan.files),
            packages=self._packages(),
            roots=roots,
            has_generated=self.place.generated.is_dir(),
            variables=dict(self.plan.variables),
            build_seconds=round(time.monotonic() - started, 3),
        )
        self._finish()
        self.place.complete(record)
        return record

    @property
    def _tree(self) -> Path:
        return self.place.directory / "tree"

    @property
    def _temporary(self) -> Path:
        return self.place.directory / "tmp"

    @property
    def _downloads(self) -> Path:
        return self.place.store.parent / "downloads"

    def _install(self) -> None:
        """Run the plan's steps, and what they turn out to need."""
        command = self._command_line()
        for argv in self.installer.make_venv(self.interpreter, self.place.venv):
            self._run(command, argv)
        for step in self.plan.steps:
            self._run_step(command, step)
        if self.plan.asks_for_extras:
            for name, extras in self._unknown_extras():
                wanted = f"{name}[{','.join(extras)}]"
                self._decisions.append(f"built, the project names extras: {wanted}")
                self._run_step(command, Step(install=(wanted,)))
        if self.plan.wants_pytest and not any(self.place.site.glob("pytest-*.*-info")):
            self._decisions.append("nothing asks for pytest: it is installed")
            self._run_step(command, Step(install=("pytest",)))
        # What is used is read-only. A file that does not compile is not ours to mend.
        compile_all = [str(self.place.python), "-m", "compileall", "-q"]
        compile_all += ["-x", _LEFT_UNCOMPILED, str(self.place.site)]
        command(compile_all, self._tree, may_fail=True)

    def _command_line(self) -> CommandLine:
        own = {
            "HOME": str(Path.home()),
            "LANG": "C.UTF-8",
            "PATH": f"{self.place.venv / 'bin'}:{_SYSTEM_PATH}",
            "TMPDIR": str(self._temporary),
            "VIRTUAL_ENV": str(self.place.venv),
            **self.installer.variables(self._downloads, self.settings),
            **self.plan.build_variables,
        }
        secret = {name for name, value in own.items() if "@" in value}
        return CommandLine(
            run=self.run,
            env={**self.settings.variables, **own},
            private=frozenset(self.settings.variables.keys() - own.keys() | secret),
            readable=self._readable(),
            writable=(self.place.directory, self._downloads),
            log_path=self.place.log,
            failed_log_path=self.place.failed_log,
            timeout_seconds=self.spec.setup_seconds,
        )

    def _readable(self) -> tuple[Path, ...]:
        """Return what commands read outside of the system's own directories."""
        uv = self.installer.uv
        return (
            *self.interpreter.directories,
            *(prefix_directories([str(uv.parent.parent)]) if uv else ()),
            *self.settings.paths(),
            *self.spec.sandbox.readable,
        )

    def _run_step(self, command: CommandLine, step: Step) -> None:
        if step.shell:
            self._run(command, ["/bin/sh", "-c", step.shell])
            return
        arguments = list(step.install)
        if self.plan.constraints:
            constraints = self.place.directory / "constraints.txt"
            constraints.write_text("\n".join(self.plan.constraints) + "\n", "utf-8")
            arguments += ["-c", str(constraints)]
        argv = self.installer.install(self.place.venv, arguments, self.settings)
        self._run(command, argv)

    def _run(self, command: CommandLine, argv: list[str]) -> None:
        command(argv, self._tree)
        self._commands.append(shlex.join(argv))

    def _unknown_extras(self) -> Iterator[tuple[str, list[str]]]:
        """Yield (distribution, extras) that tests need and no file has named."""
        for info in self.place.site.glob("*.dist-info"):
            if installed_from(info) == self._tree:
                metadata = PathDistribution(info).metadata
                known = metadata.get_all("Provides-Extra") or []
                extras = [
                    name for name in for_tests(known) if name not in self.plan.extras
                ]
                if extras:
                    yield metadata["Name"], extras

    def _separate(self, source: Path) -> tuple[str, ...]:
        """Take the project out of the environment; return the roots of its modules."""
        if not self.plan.needs_tree:
            return ()
        self._keep_new_files(source)
        found = separate(self.place.site, self._tree, self.place.generated)
        roots = found.roots or [self._likely_root()]
        names = ", ".join(found.names) or "nothing"
        places = ", ".join(repr(root or ".") for root in roots)
        self._decisions.append(
            f"installed from the tree: {names}; its modules are imported from {places} "
            "of the workspace"
        )
        return tuple(roots)

    def _likely_root(self) -> str:
        packages = list((self._tree / "src").glob("*/__init__.py"))
        return "src" if packages else ""

    def _keep_new_files(self, source: Path) -> None:
        """Copy what the commands have added to the tree, but by-products."""
        for path, entry in walk(self._tree):
            parts = path.split("/")
            if any(part.endswith(_BY_PRODUCTS) for part in parts):
                continue
            if parts[0] in _BY_PRODUCTS_OF_ROOT and not (source / parts[0]).exists():
                continue
            if entry.is_file(follow_symlinks=False) and not (source / path).exists():
                target = self.place.generated / path
                target.parent.mkdir(parents=True, exist_ok=True)
                copy_file(entry.path, str(target))

    def _packages(self) -> dict[str, str]:
        found = distributions(path=[str(self.place.site)])
        # A broken installation may leave a distribution without a name.
        named = [one for one in found if one.metadata["Name"]]
        return dict(sorted((one.metadata["Name"], one.version) for one in named))

    def _finish(self) -> None:
        """Remove what only the build needed; nobody writes to the rest again."""
        remove_tree(self._tree)
        remove_tree(self._temporary)
        for _, entry in walk(self.place.venv):
            if not entry.is_symlink():
                mode = entry.stat(follow_symlinks=False).st_mode
                os.chmod(entry.path, mode & 0o555)  # noqa: PTH101 -- hot
