"""The agent ``codex``: ``@openai/codex`` of npm."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated
from typing import Any
from typing import Literal

import tomli_w
from pydantic import Field

from pytest_codegenie.agents.base import AgentReport
from pytest_codegenie.agents.base import ProgramAgent
from pytest_codegenie.agents.base import ProgramOptions
from pytest_codegenie.agents.codex_records import CodexRun
from pytest_codegenie.errors import AgentUnavailable
from pytest_codegenie.models import EvalInstance


_KEY = "OPENAI_API_KEY"
_LOGIN_FILE = ".codex/auth.json"
_SETTINGS_FILE = ".codex/config.toml"
#: What the model's server is called in Codex's settings.
_PROVIDER = "codegenie"
#: In place of a random one, so that a case looks the same each time.
_INSTALLATION_ID = "00000000-0000-4000-8000-000000000001"
#: They call home, start what outlives the run, or wait for a network for ever.
_UNWANTED_FEATURES = (
    "apps",
    "daemon_auto_start",
    "plugins",
    "remote_plugin",
    "unbounded_connection_retries",
)


class CodexOptions(ProgramOptions):
    """Options of ``codex``."""

    #: What its commands may do, in Codex's own words; None: ``workspace-write`` in the
    #: workspace ``host``, ``danger-full-access`` in those that isolate.
    permissions: Literal["workspace-write", "danger-full-access"] | None = None
    #: It may search the web.
    web: bool = False
    effort: (
        Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] | None
    ) = None
    #: How often a request is tried again: 5 take about 10 seconds.
    retries: Annotated[int, Field(ge=0, le=100)] = 5


class CodexAgent(ProgramAgent[CodexOptions]):
    """Runs Codex headless; it limits neither turns nor cost, and names no cost."""

    name = "codex"
    program = "codex"
    install = "npm install -g @openai/codex@0.169.0"
    options_type = CodexOptions

    def build_command(self, instance: EvalInstance, workdir: str) -> list[str]:
        """Return the command; the prompt comes on standard input."""
        options = self.options
        on_host = instance.metadata["workspace"] == "host"
        # Its own sandbox cannot be made inside of another.
        usual = "workspace-write" if on_host else "danger-full-access"
        command = [*self.start(instance), "exec", "--json", "--skip-git-repo-check"]
        command += ["--sandbox", options.permissions or usual]
        if options.model:
            command += ["--model", options.model]
        return [*command, *options.arguments, "-"]

    def key_variables(self) -> tuple[str, ...]:
        """Return OpenAI's."""
        return (_KEY,)

    def provider(self) -> str:
        """Return OpenAI's."""
        return "https://api.openai.com"

    def get_endpoints(self) -> tuple[str, ...]:
        """Return the model's server, and what a login needs."""
        endpoints = super().get_endpoints()
        if self._logs_in() and not self.options.base_url:
            return ("chatgpt.com:443", "auth.openai.com:443", *endpoints)
        return endpoints

    def get_environment(self) -> dict[str, str]:
        """Return its variables."""
        environment = super().get_environment()
        if self._key_variable() == _KEY and _KEY in os.environ:
            environment[_KEY] = os.environ[_KEY]
        return environment

    def get_home_files(self, home: str) -> Mapping[str, str | Path]:
        """Return its settings and who it is, beside copies of the user's files."""
        settings = _merged(self._settings_of_user(), self._settings())
        return {
            ".codex/installation_id": _INSTALLATION_ID,
            **super().get_home_files(home),
            _SETTINGS_FILE: tomli_w.dumps(settings),
        }

    def _check_options(self) -> None:
        super()._check_options()
        self._settings_of_user()

    def _settings_of_user(self) -> dict[str, Any]:
        """Return the settings that ``home_files`` lists; none otherwise."""
        if _SETTINGS_FILE not in self.options.home_files:
            return {}
        path = Path.home() / _SETTINGS_FILE
        try:
            return tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as exc:
            raise AgentUnavailable(
                f"agent {self.name!r}: {path} (the option 'home_files') cannot be "
                f"read: {exc}"
            ) from exc

    def _settings(self) -> dict[str, Any]:
        settings: dict[str, Any] = {
            "analytics": {"enabled": False},
            "check_for_update_on_startup": False,
            "cli_auth_credentials_store": "file",
            "features": dict.fromkeys(_UNWANTED_FEATURES, False),
            "feedback": {"enabled": False},
            "history": {"persistence": "none"},
            "model_provider": _PROVIDER,
            "model_providers": {_PROVIDER: self._server()},
            "otel": dict.fromkeys(
                ("exporter", "trace_exporter", "metrics_exporter"), "none"
            ),
        }
        if not self.options.web:
            settings["web_search"] = "disabled"
        if self.options.effort:
            settings["model_reasoning_effort"] = self.options.effort
        if key := self._key_variable():
            # The commands that it runs have no need of it.
            settings["shell_environment_policy"] = {"exclude": [key]}
        return settings

    def _server(self) -> dict[str, Any]:
        """Return the model's server; its own entry for OpenAI takes no settings."""
        retries = self.options.retries
        server: dict[str, Any] = {
            "name": _PROVIDER,
            "wire_api": "responses",
            # Each of these would be multiplied by the others.
            "request_max_retries": 0,
            "stream_max_retries": retries,
        }
        if key := self._key_variable():
            server["env_key"] = key
            server["base_url"] = self.options.base_url or f"{self.provider()}/v1"
        else:
            server["requires_openai_auth"] = True
            if self.options.base_url:
                server["base_url"] = self.options.base_url
        return server

    def _logs_in(self) -> bool:
        return _LOGIN_FILE in self.options.home_files

    def _key_variable(self) -> str:
        own = self.options.api_key_variable
        return own or ("" if self._logs_in() else _KEY)

    def get_record_patterns(self) -> tuple[str, ...]:
        """Return its sessions."""
        return (".codex/sessions/*.jsonl",)

    def read_report(
        self, stdout: str, stderr: str, exit_code: int, records: Mapping[str, bytes]
    ) -> AgentReport:
        """Read its sessions, and the errors that it printed."""
        return CodexRun(stdout, stderr, records).report()


def _merged(lower: Mapping[str, Any], upper: Mapping[str, Any]) -> dict[str, Any]:
    """Return two settings as one, where the upper one wins."""
    both = {**lower, **upper}
    for key in lower.keys() & upper.keys():
        if isinstance(lower[key], dict) and isinstance(upper[key], dict):
            both[key] = _merged(lower[key], upper[key])
    return both
