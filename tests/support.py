"""A bench directory that a test builds to its needs: real files, really signed."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_codegenie.corpus import load_cases
from pytest_codegenie.corpus import new_case
from pytest_codegenie.corpus import new_task_class
from pytest_codegenie.corpus import plan_signing
from pytest_codegenie.corpus import read_task_class
from pytest_codegenie.corpus import sign
from pytest_codegenie.harness import run_case
from pytest_codegenie.models import AgentSpec
from pytest_codegenie.models import BenchCase
from pytest_codegenie.models import CaseJob
from pytest_codegenie.models import CaseResult
from pytest_codegenie.parts import BUILTIN_PARTS


#: What fixes the fault of the case that ``Bench.case`` makes.
FIX = "sed -i 's,9 / 5$,9 / 5 + 32,' thermometer.py"


class Bench:
    """``root/<task class>``, made from the templates of ``codegenie new``.

    A case is a small thermometer whose ``to_fahrenheit`` forgets to add 32.
    """

    def __init__(self, root: Path, name: str = "demo-task") -> None:
        self.root = root
        self.name = name
        self.directory = new_task_class(name, root)
        self.cases_dir = self.directory / "cases"

    def case(
        self,
        case_id: str = "first",
        *,
        files: Mapping[str, str | bytes | None] | None = None,
        keys: Mapping[str, Any] | None = None,
        **options: str,
    ) -> Path:
        """Make and sign a case.

        Args:
            case_id: Its id.
            files: Path in the case's directory to content; None removes the file.
            keys: Lines for ``case.toml``: key to TOML source.
            options: For ``new_case``: disposition, difficulty, curation_class.
        """
        directory = new_case(self.directory, case_id, **options)
        for name, content in (files or {}).items():
            self.write(directory / name, content)
        if keys:
            with (directory / "case.toml").open("a", encoding="utf-8") as file:
                file.writelines(f"{key} = {value}\n" for key, value in keys.items())
        self.sign()
        return directory

    @staticmethod
    def write(path: Path, content: str | bytes | None) -> None:
        """Write a file, or remove what is there."""
        if content is None:
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        data = content.encode() if isinstance(content, str) else content
        path.write_bytes(data)

    def sign(self) -> None:
        """Sign the cases as they are."""
        sign(plan_signing(self.directory))

    def load(self, case_id: str = "first") -> BenchCase:
        """Return a verified case."""
        cases = load_cases(read_task_class(self.directory))
        return next(case for case in cases if case.case_id == case_id)

    def job(
        self,
        case_id: str = "first",
        *,
        agent: str = "oracle",
        options: Mapping[str, Any] | None = None,
        env: Mapping[str, str] | None = None,
        **fields: Any,
    ) -> CaseJob:
        """Return a job for a case."""
        task_class = read_task_class(self.directory)
        values: dict[str, Any] = {
            "run_id": "run",
            "case": self.load(case_id),
            "agent": AgentSpec(
                name=agent,
                label=agent,
                options=dict(options or {}),
                env=dict(env or {}),
            ),
            "parts": BUILTIN_PARTS,
            "breakdown_keys": tuple(task_class.breakdown_keys or ()),
            "failure_mode_taxonomy": {
                code: mode["severity"]
                for code, mode in (task_class.failure_mode_taxonomy or {}).items()
            },
        }
        return CaseJob.model_validate(values | fields)

    def run(self, case_id: str = "first", **options: Any) -> CaseResult:
        """Run a case and return its result; the arguments are those of ``job``."""
        return run_case(self.job(case_id, **options))

    def run_shell(
        self, script: str, case_id: str = "first", **options: Any
    ) -> CaseResult:
        """Run a case with an agent that is a shell script in the workspace."""
        command = {"command": ["/bin/sh", "-c", script]}
        return self.run(case_id, agent="command", options=command, **options)
