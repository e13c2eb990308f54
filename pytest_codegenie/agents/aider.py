"""The agent ``aider``: ``aider-chat`` of PyPI, which edits without calling tools."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from pathlib import PurePosixPath
from typing import Annotated
from typing import Any
from typing import Literal

from pydantic import Field

from pytest_codegenie.agents.aider_records import CHAT
from pytest_codegenie.agents.aider_records import HISTORY
from pytest_codegenie.agents.aider_records import LOG
from pytest_codegenie.agents.aider_records import AiderRecords
from pytest_codegenie.agents.base import AgentReport
from pytest_codegenie.agents.litellm_models import LitellmAgent
from pytest_codegenie.agents.litellm_models import LitellmOptions
from pytest_codegenie.errors import AgentUnavailable
from pytest_codegenie.models import EvalInstance


_SETTINGS = "aider/settings.yml"
_PRICES = "aider/prices.json"
_ANALYTICS = ".aider/analytics.json"
_TABLE = ".aider/caches/model_prices_and_context_window.json"

#: What the project's programs find on PYTHONPATH is for its tests, not for aider's own
#: imports. Its index of the repository can be told no other place than the tree.
#: Unbuffered, its output tells what it does while it does it. The shell ends after it,
#: also when both are ended.
_START = """\
export PROJECT_PYTHONPATH="$PYTHONPATH"
unset PYTHONPATH
export PYTHONUNBUFFERED=1
trap : TERM
"$@"
code=$?
rm -rf .aider.tags.cache.v*
exit $code
"""
_TESTS_START = 'unset PYTHONUNBUFFERED; export PYTHONPATH="$PROJECT_PYTHONPATH"; '

_QUIET = (
    "--yes-always",
    "--no-pretty",
    "--no-fancy-input",
    "--no-notifications",
    "--no-analytics",
    "--no-check-update",
    "--no-show-release-notes",
    "--no-show-model-warnings",
    "--no-detect-urls",
    "--no-suggest-shell-commands",
    "--disable-playwright",
)
#: Only the tree's diff counts; a message for a commit would be one more question.
_NO_TRACES = ("--no-auto-commits", "--no-dirty-commits", "--no-gitignore")

_COST_NOTE = (
    "of the main model's answers alone: what aider asks beside them, such as summaries "
    "of the chat, is left out"
)
_ALIASES = {
    "sonnet": "anthropic",
    "haiku": "anthropic",
    "opus": "anthropic",
    "4": "openai",
    "4o": "openai",
    "4-turbo": "openai",
    "35turbo": "openai",
    "35-turbo": "openai",
    "3": "openai",
    "deepseek": "deepseek",
    "r1": "deepseek",
    "flash": "gemini",
    "flash-lite": "gemini",
    "gemini": "gemini",
    "gemini-exp": "gemini",
    "gemini-2.5-pro": "gemini",
    "gemini-3-pro-preview": "gemini",
    "grok3": "xai",
    "optimus": "openrouter",
    "quasar": "openrouter",
}


class AiderOptions(LitellmOptions):
    """Options of ``aider``."""

    #: How the model is to write its edits; None: as aider knows it to do best.
    edit_format: (
        Literal[
            "architect",
            "diff",
            "diff-fenced",
            "editor-diff",
            "editor-diff-fenced",
            "editor-whole",
            "patch",
            "udiff",
            "udiff-simple",
            "whole",
        ]
        | None
    ) = None
    #: Of the tree, which it may edit from the start; further ones it adds itself, as
    #: soon as the task or the model names them. Each has to exist.
    files: tuple[str, ...] = ()
    #: Of the tree, which it is shown and may not edit.
    read: tuple[str, ...] = ()
    #: Of its map of the repository, by which the model finds files; 0: no map, None:
    #: its own choice.
    map_tokens: Annotated[int, Field(ge=0)] | None = None
    #: For summaries of the chat; None: as aider has it for the model.
    weak_model: str | None = None
    #: Which edits for the architect; None: as aider has it for the model.
    editor_model: str | None = None
    #: For models that reason; None: the model's own.
    effort: Literal["minimal", "low", "medium", "high"] | None = None
    #: A command for a shell in the tree; it tries to mend what fails.
    test_command: str | None = None
    #: Look for syntax errors in what it edited, and have them mended.
    lint: bool = True
    #: What aider's model settings file can say of the model.
    model_settings: dict[str, Any] | None = None


class AiderAgent(LitellmAgent[AiderOptions]):
    """Runs aider on one message; it limits neither turns nor cost."""

    name = "aider"
    program = "aider"
    install = "pip install aider-chat==0.86.2"
    options_type = AiderOptions

    def _check_options(self) -> None:
        super()._check_options()
        for option in ("files", "read"):
            for file in getattr(self.options, option):
                path = PurePosixPath(file)
                if path.is_absolute() or ".." in path.parts or not path.parts:
                    raise AgentUnavailable(
                        f"agent {self.name!r}: the option {option!r} takes paths below "
                        f"the tree, got {file!r}"
                    )

    def provider_name(self) -> str:
        """Return the provider of a model, by aider's own short names too."""
        return _ALIASES.get(self.model()) or super().provider_name()

    def build_prompt(self, instance: EvalInstance) -> str:
        """Return the message; one that begins like a command must not be one."""
        prompt = super().build_prompt(instance)
        return f"\n{prompt}" if prompt.startswith(("/", "!")) else prompt

    def build_command(self, instance: EvalInstance, workdir: str) -> list[str]:
        """Return the command; the message comes from the file that holds it."""
        home = PurePosixPath(instance.metadata["home"])
        command = ["sh", "-c", _START, "sh", *self.start(instance)]
        command += [*_QUIET, *_NO_TRACES]
        # Of a stream it would estimate the tokens.
        command += ["--no-stream", "--model", self.model()]
        command += ["--message-file", str(instance.metadata["problem_file"])]
        command += ["--model-settings-file", str(home / _SETTINGS)]
        if self.options.prices is not None:
            command += ["--model-metadata-file", str(home / _PRICES)]
        command += ["--analytics-log", str(home / LOG)]
        command += ["--chat-history-file", str(home / CHAT)]
        command += ["--llm-history-file", str(home / HISTORY)]
        command += ["--input-history-file", str(home / "aider/input.history")]
        return [*command, *self._chosen(), *self.options.arguments]

    def _chosen(self) -> list[str]:
        options = self.options
        values = {
            "--edit-format": options.edit_format,
            "--map-tokens": options.map_tokens,
            "--weak-model": options.weak_model,
            "--editor-model": options.editor_model,
            "--reasoning-effort": options.effort,
        }
        words = [
            word
            for flag, value in values.items()
            if value is not None
            for word in (flag, str(value))
        ]
        if options.effort is not None:
            # Or else it is sent to those models alone that aider knows to take it.
            words.append("--no-check-model-accepts-settings")
        words.append("--auto-lint" if options.lint else "--no-auto-lint")
        if options.test_command is not None:
            command = _TESTS_START + options.test_command
            words += ["--auto-test", "--test-cmd", command]
        words += [word for file in options.read for word in ("--read", file)]
        return [*words, *(word for file in options.files for word in ("--file", file))]

    def settings(self) -> dict[str, str]:
        """Return what else keeps it quiet: it offers pages, and says yes to that."""
        return {**super().settings(), "BROWSER": "true"}

    def get_home_files(self, home: str) -> Mapping[str, str | Path]:
        """Return its settings, beside copies of the user's files."""
        files = dict(super().get_home_files(home))
        files[_SETTINGS] = json.dumps(self._model_settings(), indent=2)
        if table := self.price_table():
            files[_PRICES] = json.dumps(table, indent=2)
        nobody = "00000000-0000-4000-8000-000000000000"
        consent = {"uuid": nobody, "permanently_disable": True, "asked_opt_in": True}
        files[_ANALYTICS] = json.dumps(consent)
        # An empty table would be fetched anew; litellm has one of its own.
        files[_TABLE] = json.dumps({"none": {}})
        return files

    def _model_settings(self) -> list[dict[str, Any]]:
        settings = []
        if self.options.model_settings is not None:
            settings.append({**self.options.model_settings, "name": self.model()})
        if (url := self.api_base()) is not None:
            everywhere = {"api_base": url}
            settings.append({"name": "aider/extra_params", "extra_params": everywhere})
        return settings

    def get_record_patterns(self) -> tuple[str, ...]:
        """Return its log and its histories."""
        return (LOG, CHAT, HISTORY)

    def read_report(
        self, stdout: str, stderr: str, exit_code: int, records: Mapping[str, bytes]
    ) -> AgentReport:
        """Read its records; its output rounds what they say."""
        found = AiderRecords(records)
        usage = found.usage()
        version = re.search(r"^Aider v(\S+)$", stdout, re.MULTILINE)
        return AgentReport(
            usage=usage,
            error=self._error(found, stdout, stderr, exit_code),
            stopped_by=(
                "tokens" if found.hit_tokens else "turns" if found.hit_turns else ""
            ),
            version=version[1] if version else None,
            steps=found.steps(),
            facts={} if usage.cost_usd is None else {"cost_note": _COST_NOTE},
        )

    def _error(
        self, found: AiderRecords, stdout: str, stderr: str, exit_code: int
    ) -> str:
        if not found.asked and exit_code == 127:
            program = self.options.program or self.program
            return f"{self.name}: {program!r} is not in the image; {self.install}"
        if not found.asked and (found.ended or 0 < exit_code < 128):
            words = f"{stdout.strip()}\n{stderr.strip()}".strip()
            return f"{self.name} did not begin: {words[-500:] or 'no reason given'}"
        if self.options.model_settings is not None and found.settings_fault:
            # It goes on without any of its settings.
            return f"{self.name}: the option 'model_settings': {found.settings_fault}"
        if found.fault and not found.hit_tokens:
            return (
                f"{self.name}: the model's server answered with an error: {found.fault}"
            )
        return ""
