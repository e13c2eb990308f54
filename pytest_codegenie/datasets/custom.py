"""``custom``: instances written by hand, in YAML, with their repositories beside."""

from __future__ import annotations

import os
from collections.abc import Iterator
from collections.abc import Mapping
from pathlib import Path

from pytest_codegenie.datasets.custom_file import CustomFile
from pytest_codegenie.datasets.custom_file import CustomInstance
from pytest_codegenie.datasets.custom_file import checked
from pytest_codegenie.datasets.protocol import CaseDraft
from pytest_codegenie.datasets.protocol import DatasetOptions
from pytest_codegenie.datasets.protocol import FileContent
from pytest_codegenie.datasets.protocol import Instance
from pytest_codegenie.datasets.protocol import case_id_of
from pytest_codegenie.datasets.rows import missing
from pytest_codegenie.errors import DatasetError
from pytest_codegenie.errors import relative
from pytest_codegenie.task_files import Environment
from pytest_codegenie.task_files import Repository
from pytest_codegenie.task_files import TaskFile
from pytest_codegenie.task_files import TestsFile
from pytest_codegenie.trees import walk


_BUNDLE = "repository.bundle"
_TREE = "repo"


class CustomDataset:
    """Reads a YAML file with ``dataset_name`` and ``instances``."""

    name = "custom"
    summary = "your own instances in YAML, with git bundles or directories beside them"
    options_type: type[DatasetOptions] = DatasetOptions

    def instances(self, source: str, options: DatasetOptions) -> Iterator[Instance]:
        """Yield the instances, well made or not.

        Raises:
            DatasetError: The file is missing or is laid out otherwise.
        """
        path = Path(source)
        if path.is_dir():
            raise DatasetError(
                relative(path), "", "is a directory; name the YAML file in it"
            )
        if not path.is_file():
            raise missing(source)
        file = CustomFile(path)
        for number, (instance_id, place, value) in enumerate(file.instances()):
            data = (path.parent, file.dataset_name, value, file.lines(number))
            yield Instance(instance_id, place, data)

    def draft(self, instance: Instance, options: DatasetOptions) -> CaseDraft:
        """Return the draft of an instance.

        Raises:
            DatasetError: It is not well made, or what it names is not there.
        """
        directory, dataset_name, value, lines = instance.data
        place = f"{instance.place} ({instance.instance_id})"
        said = checked(value, place, lines)
        meta = said.metadata
        repository, files = _Code(directory, place).of(said)
        extra = {
            key: str(value)
            for key, value in (meta.model_extra or {}).items()
            if isinstance(value, (str, int, float))
        }
        return CaseDraft(
            case_id=case_id_of(said.instance_id),
            instance_id=said.instance_id,
            task=TaskFile(
                repository=repository,
                environment=Environment(
                    python=meta.python, install=meta.install, image=meta.image
                ),
            ),
            tests=TestsFile(
                framework=meta.framework,
                fail_to_pass=said.fail_to_pass,
                pass_to_pass=said.pass_to_pass,
                command=meta.command,
                parser=meta.parser,
                report=meta.report,
                rule=meta.rule,
            ),
            problem=_ended(said.problem_statement),
            hints=_ended(said.hints_text),
            gold_patch=_ended(said.gold_patch),
            test_patch=_ended(said.test_patch),
            files=files,
            disposition=meta.disposition,
            difficulty=meta.difficulty,
            tags=tuple(meta.tags),
            commit_sha=said.base_commit,
            timeout_seconds=meta.timeout_seconds,
            origin={"dataset_name": dataset_name, **extra},
        )


class _Code:
    """Where the code of an instance comes from."""

    def __init__(self, directory: Path, place: str) -> None:
        self._directory = directory
        self._place = place

    def of(self, said: CustomInstance) -> tuple[Repository, Mapping[str, FileContent]]:
        """Return what ``task.toml`` says of it, and what goes into the case.

        Raises:
            DatasetError: It is not there, or of another kind.
        """
        meta, commit = said.metadata, said.base_commit
        if meta.bundle:
            path = self._beside("bundle", meta.bundle)
            if fault := _bundle_fault(path):
                raise self._error("bundle", f"{meta.bundle!r} {fault}")
            repository = Repository(name=said.repo, source=_BUNDLE, base_commit=commit)
            return repository, {f"input/{_BUNDLE}": FileContent(path)}
        if meta.directory:
            path = self._beside("directory", meta.directory)
            return Repository(name=said.repo, source=_TREE), self._tree(path)
        source = meta.source or self._repository(said.repo)
        return (
            Repository(
                name=_name(said.repo),
                source=source,
                base_commit=commit,
                sha256=meta.sha256,
            ),
            {},
        )

    def _repository(self, repo: str) -> str:
        """Return what git can fetch a repository from."""
        if "://" in repo or repo.startswith("git@"):
            return repo
        # Git reads it where it is, when a case is run.
        path = self._directory / repo
        if path.is_dir():
            return os.path.abspath(path)  # noqa: PTH100 -- links stay
        if len(repo.split("/")) == 2 and not repo.startswith((".", "/")):
            return f"https://github.com/{repo}.git"
        raise DatasetError(
            self._place,
            "repo",
            f"{repo!r} is no directory here; name owner/project of GitHub, a git URL, "
            "a directory that is a git repository, or metadata.bundle",
        )

    def _beside(self, key: str, name: str) -> Path:
        """Return a path that is named relative to the file, and stays beside it."""
        path = self._directory / name
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise self._error(key, f"{name!r} leads out of the dataset's directory")
        there = path.is_file() if key == "bundle" else path.is_dir()
        if not there:
            kind = "file" if key == "bundle" else "directory"
            raise self._error(key, f"there is no {kind} {name!r} beside the YAML file")
        if not path.resolve().is_relative_to(self._directory.resolve()):
            raise self._error(key, f"{name!r} is a link that leads out of there")
        return path

    def _tree(self, directory: Path) -> Mapping[str, FileContent]:
        files = {}
        for name, entry in walk(directory):
            if entry.is_symlink():
                raise self._error("directory", f"{name!r} is a link; put a copy there")
            if entry.is_file() and ".git" not in name.split("/"):
                executable = bool(entry.stat().st_mode & 0o100)
                files[f"input/{_TREE}/{name}"] = FileContent(
                    Path(entry.path), executable
                )
        if not files:
            raise self._error("directory", "is empty")
        return files

    def _error(self, key: str, reason: str) -> DatasetError:
        return DatasetError(self._place, f"metadata.{key}", reason)


def _bundle_fault(path: Path) -> str:
    """Say why a file is no bundle that a commit can be fetched from; "" if it is."""
    with path.open("rb") as file:
        if file.readline(100) not in (b"# v2 git bundle\n", b"# v3 git bundle\n"):
            return "is no git bundle"
        # Options, commits that it builds on, and what it has: <id> <name>.
        while (line := file.readline(1 << 12).rstrip(b"\n")) != b"":
            if line.startswith(b"-"):
                return "is not whole; make it with: git bundle create FILE --all"
            if line.partition(b" ")[2].startswith(b"refs/"):
                return ""
    return "has no branch; make it with: git bundle create FILE --all"


def _name(repo: str) -> str:
    """Return ``owner/project`` of a URL or path."""
    parts = repo.rstrip("/").removesuffix(".git").replace(":", "/").split("/")
    return "/".join(parts[-2:])


def _ended(text: str) -> str:
    """Return a text with a line end at its end: YAML's ``|-`` takes it off a patch."""
    return text if not text or text.endswith("\n") else f"{text}\n"
