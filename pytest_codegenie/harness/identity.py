"""What a patch and a verdict depend on: the keys under which they are kept.

A key is the BLAKE3 digest of named fields (``hash_fields``), one purpose for patches
and one for verdicts. Of what decides, only what costs next to nothing is asked for: no
process is started, and nothing goes over a network.

What is in both: the case (id, task class, digest, canary pin), the trial, the agent
(name, version, options, variables, the files that it answers from, its code), the
harness with this package's own code, the workspace and its limits, the machine's
Python, pytest and package settings, and the limits of time. A verdict's key has the
agent's output with its patch too, all of ``case.toml``, the digest of the task class's
code, and the evaluators. An agent's label is in neither.
"""

from __future__ import annotations

import functools
import importlib.util
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest_codegenie
from pytest_codegenie.agents import Agent
from pytest_codegenie.agents import ReadsFiles
from pytest_codegenie.evidence.audit.canonical import canonical_json
from pytest_codegenie.hashing import hash_bytes
from pytest_codegenie.hashing import hash_fields
from pytest_codegenie.models import AgentOutput
from pytest_codegenie.models import AgentSpec
from pytest_codegenie.models import CaseJob
from pytest_codegenie.parts import make_part
from pytest_codegenie.workspaces.environments import surroundings


_PATCH = "pytest-codegenie 2026-11-21 cache: the patch of a job, version 1"
_VERDICT = "pytest-codegenie 2026-11-21 cache: the verdict on a patch, version 1"
_CODE = "pytest-codegenie 2026-11-21 cache: the files of a package, version 1"
_PACKAGE = Path(pytest_codegenie.__file__).parent
#: Of our files, those that make a difference to a result or a case.
_CODE_SUFFIXES = (".py", ".toml", ".Dockerfile", ".json", ".txt")


class Identities:
    """Makes the keys of one session's jobs; what they have in common it asks once."""

    def __init__(self) -> None:
        self._agents: dict[str, dict[str, Any] | None] = {}
        #: Path, as it was last seen, to digest.
        self._files: dict[tuple[str, int, int, int], str] = {}
        self._code: dict[str, str] = {}
        self._surroundings: bytes | None = None

    def patch_key(self, job: CaseJob) -> str | None:
        """Return the key of what a job's agent hands in.

        None: nobody can say what that depends on. The agent does not always give the
        same answer, cannot be made, or is set up with what is no JSON; or the job says
        nothing of its rubric.
        """
        try:
            agent = self._agent(job.agent, job.parts.agents)
            if agent is None or not job.rubric_digest:
                return None
            return hash_fields(_PATCH, self._common(job, agent))
        except (OSError, ValueError):
            return None  # its file is not there; half of a surrogate pair is no text

    def verdict_key(self, job: CaseJob, output: AgentOutput) -> str | None:
        """Return the key of the verdict on what a job's agent handed in.

        Args:
            job: One that ``patch_key`` has a key for; else None is returned.
            output: Its patch in it. A rubric sees all of it, so all of it counts.
        """
        try:
            agent = self._agent(job.agent, job.parts.agents)
            if agent is None:
                return None
            rubric = {
                "digest": job.rubric_digest,
                "breakdown_keys": job.breakdown_keys,
                "failure_modes": job.failure_mode_taxonomy,
            }
            evaluation = {
                "settings": job.evaluator.model_dump(mode="json"),
                "timeout_seconds": job.timeout_seconds,
                "judges_empty_patch": job.judge_empty_patch,
                "parts": self._parts(job.parts.evaluators),
            }
            fields = {
                "patch": hash_bytes(output.patch.encode()).encode(),
                "output": canonical_json(output.model_dump(mode="json")),
                "case file": canonical_json(
                    job.case.model_dump(mode="json", exclude={"directory"})
                ),
                "rubric": canonical_json(rubric),
                "evaluator": canonical_json(evaluation),
            }
            return hash_fields(_VERDICT, self._common(job, agent) | fields)
        except (OSError, ValueError):
            return None

    def _common(self, job: CaseJob, agent: dict[str, Any]) -> dict[str, bytes]:
        case = {
            "case_id": job.case.case_id,
            "task_class": job.case.task_class,
            "digest": job.case.case_digest,
            "canary_pin": job.case.cassette_canary_pin,
        }
        workspace = {
            "name": job.workspace,
            "parts": self._parts(job.parts.workspaces),
            "limits": job.limits.model_dump(mode="json"),
            "sandbox": job.sandbox.model_dump(mode="json"),
            "docker": job.docker.model_dump(mode="json", exclude={"cleanup"}),
        }
        limits = {"agent": job.agent_limit_seconds, "setup": job.setup_seconds}
        return {
            "case": canonical_json(case),
            "trial": str(job.trial).encode(),
            "agent": canonical_json(agent),
            "harness": canonical_json(
                self._parts({**job.parts.harnesses, **job.parts.gates})
            ),
            "codegenie": f"{pytest_codegenie.__version__} {own_code()}".encode(),
            "environment": self._machine(),
            "workspace": canonical_json(workspace),
            "limits": canonical_json(limits),
        }

    def _machine(self) -> bytes:
        if self._surroundings is None:
            self._surroundings = canonical_json(surroundings())
        return self._surroundings

    def _agent(
        self, spec: AgentSpec, parts: Mapping[str, str]
    ) -> dict[str, Any] | None:
        """Return what an agent's answers depend on; None: on more than is known."""
        known = spec.model_dump(mode="json", exclude={"label"})
        key = canonical_json([known, parts.get(spec.name)]).decode()
        if key not in self._agents:
            self._agents[key] = self._ask(spec, parts)
        asked = self._agents[key]
        if asked is None:
            return None
        files = {path: self._digest(path) for path in asked["files"]}
        return {**known, **asked, "files": files}

    def _ask(self, spec: AgentSpec, parts: Mapping[str, str]) -> dict[str, Any] | None:
        try:
            agent: Agent = make_part("agent", spec.name, parts)
            agent.configure(spec.options)
            if not agent.deterministic:
                return None
            files = agent.get_answer_files() if isinstance(agent, ReadsFiles) else ()
            return {
                "version": agent.version(),
                "part": self._part(parts[spec.name]),
                "files": tuple(os.fspath(path) for path in files),
            }
        except Exception:
            # An agent is anybody's code; whoever runs the job says what is wrong.
            return None

    def _digest(self, path: str) -> str:
        """Return the digest of a file; it is read again once it was changed."""
        status = Path(path).stat()
        seen = (path, status.st_mtime_ns, status.st_size, status.st_ino)
        if seen not in self._files:
            self._files[seen] = hash_bytes(Path(path).read_bytes())
        return self._files[seen]

    def _parts(self, table: Mapping[str, str]) -> dict[str, list[str]]:
        """Return all parts of a kind: one of another name may be what a case asks."""
        return {name: self._part(reference) for name, reference in table.items()}

    def _part(self, reference: str) -> list[str]:
        """Return where a part is, and the digest of the module that it is in.

        Ours are all in ``own_code``.
        """
        module = reference.partition(":")[0]
        if module.partition(".")[0] == pytest_codegenie.__name__:
            return [reference]
        if module not in self._code:
            self._code[module] = module_digest(module)
        return [reference, self._code[module]]


def module_digest(name: str) -> str:
    """Return the digest of a module's file; "" where it has none."""
    try:
        spec = importlib.util.find_spec(name)
        return (
            hash_bytes(Path(spec.origin).read_bytes()) if spec and spec.origin else ""
        )
    except Exception:
        # Importing the package that it is in runs somebody else's code.
        return ""


@functools.cache
def own_code(*below: str) -> str:
    """Return the digest of this package's own code.

    A version number stands still while somebody works on the package.

    Args:
        below: Only the files of these directories, and these files; none: all.
    """
    roots = [_PACKAGE / name for name in below] or [_PACKAGE]
    paths = {path for root in roots for path in [root, *root.rglob("*")]}
    files = {
        path.relative_to(_PACKAGE).as_posix(): path.read_bytes()
        for path in paths
        if path.name.endswith(_CODE_SUFFIXES) and path.is_file()
    }
    return hash_fields(_CODE, files)
