"""``swebench``: SWE-bench in all its editions, and datasets whose rows are like it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pytest_codegenie.datasets.protocol import CaseDraft
from pytest_codegenie.datasets.protocol import DatasetOptions
from pytest_codegenie.datasets.protocol import FileContent
from pytest_codegenie.datasets.protocol import Instance
from pytest_codegenie.datasets.protocol import case_id_of
from pytest_codegenie.datasets.rows import Row
from pytest_codegenie.datasets.rows import read_rows
from pytest_codegenie.datasets.swebench.bases import Bases
from pytest_codegenie.datasets.swebench.bases import Basis
from pytest_codegenie.datasets.swebench.commands import command_of
from pytest_codegenie.datasets.swebench.commands import parser_of
from pytest_codegenie.datasets.swebench.commands import rule_of
from pytest_codegenie.datasets.swebench.directories import directory_rows
from pytest_codegenie.datasets.swebench.directories import overlay_of
from pytest_codegenie.datasets.swebench.directories import task_directories
from pytest_codegenie.datasets.swebench.eval_script import EvalScript
from pytest_codegenie.datasets.swebench.eval_script import parse
from pytest_codegenie.datasets.swebench.fields import Fields
from pytest_codegenie.datasets.swebench.fields import fields_of
from pytest_codegenie.datasets.swebench.images import images_of
from pytest_codegenie.datasets.swebench.multi import classic
from pytest_codegenie.datasets.swebench.specifications import Specification
from pytest_codegenie.datasets.swebench.specifications import package_specification
from pytest_codegenie.datasets.swebench.specifications import specification_of
from pytest_codegenie.errors import DatasetError
from pytest_codegenie.task_files import Environment
from pytest_codegenie.task_files import Repository
from pytest_codegenie.task_files import TaskFile
from pytest_codegenie.task_files import TestsFile


#: As SWE-bench's own command names them.
_HUB_NAMES = {
    "full": "SWE-bench/SWE-bench",
    "lite": "SWE-bench/SWE-bench_Lite",
    "multilingual": "SWE-bench/SWE-bench_Multilingual",
    "multimodal": "SWE-bench/SWE-bench_Multimodal",
    "verified": "SWE-bench/SWE-bench_Verified",
}
#: ``sdist:flask==2.2.3``, ``https://...``, ``git@host:...``: no path.
_NO_PATH = re.compile(r"[\w+.-]+(@[\w.-]+)?:")
_SHOWN = 20


class SwebenchOptions(DatasetOptions):
    """What ``--option`` takes."""

    #: Of a directory, a task repository or the hub.
    split: str = ""
    #: Of the hub.
    revision: str = ""
    #: A TOML file that says where the code is, and what it runs with.
    bases: Path | None = None
    #: What reads the output where a row does not say.
    parser: str = ""
    #: Whether an installed package ``swebench`` is asked for environments.
    specifications: Literal["auto", "none"] = "auto"


class SwebenchDataset:
    """Reads rows of SWE-bench, and task repositories of SWE-bench 5."""

    name = "swebench"
    summary = (
        "SWE-bench (full, Lite, Verified, dev ...), SWE-smith, SWE-Gym, SWE-rebench, "
        "Multi-SWE-bench: rows, or directories of SWE-bench 5"
    )
    options_type = SwebenchOptions

    def instances(self, source: str, options: SwebenchOptions) -> Iterator[Instance]:
        """Yield the instances, well made or not.

        Raises:
            DatasetError: The source is missing or is not of this format.
        """
        for row in _rows(source, options):
            yield Instance(_id_of(row), row.place, row.data)

    def draft(self, instance: Instance, options: SwebenchOptions) -> CaseDraft:
        """Return the draft of an instance.

        Raises:
            DatasetError: The row is not well made, or says less than a case needs.
        """
        return _Draft(fields_of(instance.place, instance.data), options).make()


def _rows(source: str, options: SwebenchOptions) -> Iterator[Row]:
    directories = task_directories(Path(source))
    if directories:
        return directory_rows(directories, options.split)
    if not Path(source).exists():
        source = _HUB_NAMES.get(source.lower(), source)
    return read_rows(source, split=options.split, revision=options.revision)


def _id_of(row: Row) -> str:
    """Return a row's id; "" where it has none, which its draft then says."""
    try:
        value = classic(row.place, row.data).get("instance_id")
    except (DatasetError, KeyError):
        return ""
    return value if isinstance(value, str) else ""


class _Draft:
    """A draft in the making."""

    def __init__(self, fields: Fields, options: SwebenchOptions) -> None:
        self._fields = fields
        self._options = options
        self._bases = Bases(options.bases.absolute()) if options.bases else None
        self._basis = Basis()
        if self._bases is not None:
            self._basis = self._bases.of(fields.instance_id, fields.repo)
        self._script = parse(fields.text("eval_script"))
        config = fields.row.data.get("install_config")
        #: Of SWE-rebench.
        self._config = config if isinstance(config, dict) else {}
        self._specification = self._find_specification()

    def make(self) -> CaseDraft:
        """Return it."""
        fields = self._fields
        repository, files = self._repository()
        return CaseDraft(
            case_id=self._case_id(),
            instance_id=fields.instance_id,
            task=TaskFile(repository=repository, environment=self._environment()),
            tests=self._tests(),
            problem=fields.problem,
            hints=fields.hints,
            gold_patch=fields.gold_patch,
            test_patch=fields.test_patch,
            files={**files, **overlay_of(fields.row.data)},
            difficulty=fields.difficulty,
            commit_sha=self._basis.base_commit or fields.base_commit,
            origin=self._origin(),
        )

    def _case_id(self) -> str:
        case_id = case_id_of(self._fields.instance_id)
        if not case_id:
            raise DatasetError(
                self._fields.place,
                "instance_id",
                f"{self._fields.instance_id!r} has nothing that an id of a case may "
                "have: letters, digits, '.', '_', '-'",
            )
        return case_id

    def _find_specification(self) -> Specification | None:
        if self._config:
            return specification_of(self._config, "install_config")
        if self._options.specifications == "none":
            return None
        return package_specification(self._fields.repo, self._fields.version)

    def _repository(self) -> tuple[Repository, Mapping[str, FileContent]]:
        fields, basis = self._fields, self._basis
        commit = basis.base_commit or fields.base_commit
        if not commit and not basis.source:
            raise DatasetError(
                fields.place,
                "base_commit",
                f"missing; give base_commit of {fields.repo}, or source, for this "
                "instance in the file of --option bases",
            )
        source, files = self._source()
        return (
            Repository(
                name=fields.repo.removeprefix("swesmith/"),
                source=source or f"https://github.com/{fields.repo}.git",
                base_commit=commit,
                sha256=basis.sha256,
            ),
            files,
        )

    def _source(self) -> tuple[str, Mapping[str, FileContent]]:
        """Return the user's source; a file is copied into the case."""
        source = self._basis.source
        if not source or _NO_PATH.match(source) or self._bases is None:
            return source, {}
        path = self._bases.path.parent / source
        if path.is_dir():
            return str(path.resolve()), {}
        if not path.is_file():
            raise DatasetError(
                self._fields.place, "source", f"there is no {source!r} beside the bases"
            )
        return path.name, {f"input/{path.name}": FileContent(path)}

    def _environment(self) -> Environment:
        basis, specification = self._basis, self._specification
        return Environment(
            python=basis.python or (specification.python if specification else ""),
            install=self._install(),
            image=basis.image or self._fields.image,
        )

    def _install(self) -> Literal["auto", "none"] | list[str]:
        if self._basis.install is not None:
            return self._basis.install
        if self._specification is not None:
            install = self._specification.install
            return "auto" if install == "auto" else list(install)
        if self._script is None or self._script.installs_project_alone:
            return "auto"
        return list(self._script.installs)

    def _tests(self) -> TestsFile:
        fields = self._fields
        if not fields.fail_to_pass.tests and not fields.pass_to_pass.tests:
            raise DatasetError(
                fields.place,
                "FAIL_TO_PASS",
                "names no test, and neither does PASS_TO_PASS, so that nothing can be "
                "judged; some datasets keep those of their test split to themselves",
            )
        said = str(self._config.get("log_parser") or "")
        parser = parser_of(fields, self._basis, self._options.parser, said)
        return TestsFile(
            framework="log",
            fail_to_pass=list(fields.fail_to_pass.tests),
            pass_to_pass=list(fields.pass_to_pass.tests),
            command=command_of(
                fields, self._basis, self._script, self._specification, parser
            ),
            parser=parser,
            rule=rule_of(fields),
            timeout_seconds=self._basis.timeout_seconds,
        )

    def _origin(self) -> Mapping[str, str]:
        fields = self._fields
        dropped = (*fields.fail_to_pass.dropped, *fields.pass_to_pass.dropped)
        said = {
            "repo": fields.repo,
            **fields.origin,
            **images_of(fields.row),
            "environment": self._environment_origin(),
            "installed_by_eval_script": "\n".join(_installs(self._script)),
            "no_tests": "\n".join(map(repr, dropped[:_SHOWN])),
        }
        return {key: value for key, value in said.items() if value}

    def _environment_origin(self) -> str:
        """Say who decided what the code runs with."""
        if self._basis.install is not None:
            return "bases"
        if self._specification is not None:
            return self._specification.source
        return "eval_script" if self._install() != "auto" else "auto"


def _installs(script: EvalScript | None) -> tuple[str, ...]:
    return script.installs if script else ()
