"""The agent ``gemini-cli``: ``@google/gemini-cli`` of npm."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated
from typing import Any
from typing import Literal

from pydantic import Field

from pytest_codegenie.agents.base import AgentReport
from pytest_codegenie.agents.base import ProgramAgent
from pytest_codegenie.agents.base import ProgramOptions
from pytest_codegenie.agents.gemini_cli_records import GeminiRun
from pytest_codegenie.models import EvalInstance


_KEY = "GEMINI_API_KEY"
_SERVER = "https://generativelanguage.googleapis.com"
#: In place of a random one, so that a case looks the same each time.
_SESSION_ID = "00000000-0000-4000-8000-000000000001"
_WEB_TOOLS = ("google_web_search", "web_fetch")
#: What a login is kept in.
_LOGIN = ".gemini/oauth_creds.json"
#: Where a login is asked.
_LOGIN_SERVERS = ("cloudcode-pa.googleapis.com:443", "oauth2.googleapis.com:443")


class GeminiCliOptions(ProgramOptions):
    """Options of ``gemini-cli``."""

    max_turns: Annotated[int, Field(ge=1)] | None = None
    #: In Gemini CLI's own words; with ``auto_edit`` it edits, but has no shell.
    permissions: Literal["auto_edit", "yolo"] = "yolo"
    #: How often a request is sent before it gives up; the pauses are about 5, 10, 20
    #: and then 30 seconds.
    attempts: Annotated[int, Field(ge=1, le=10)] = 4
    #: It may use its tools for the web; its search is the model server's.
    web: bool = False


class GeminiCliAgent(ProgramAgent[GeminiCliOptions]):
    """Runs Gemini CLI headless; it reports no cost."""

    name = "gemini-cli"
    program = "gemini"
    install = "npm install -g @google/gemini-cli@0.61.0"
    options_type = GeminiCliOptions

    def build_command(self, instance: EvalInstance, workdir: str) -> list[str]:
        """Return the command; the prompt comes on standard input."""
        options = self.options
        command = [*self.start(instance), "--skip-trust"]
        command += ["--approval-mode", options.permissions]
        command += ["--output-format", "stream-json", "--session-id", _SESSION_ID]
        if options.model:
            command += ["--model", options.model]
        return [*command, *options.arguments]

    def build_prompt(self, instance: EvalInstance) -> str:
        """Return the prompt; none is taken for a command of the program's own."""
        prompt = super().build_prompt(instance)
        return f" {prompt}" if prompt.startswith("/") else prompt

    def key_variables(self) -> tuple[str, ...]:
        """Return the one that it knows."""
        return (_KEY,)

    def provider(self) -> str:
        """Return Google's server for keys."""
        return _SERVER

    def get_endpoints(self) -> tuple[str, ...]:
        """Return where the model's server is, for a login too."""
        known = super().get_endpoints()
        return (*known, *_LOGIN_SERVERS) if self._has_login() else known

    def _has_login(self) -> bool:
        return _LOGIN in self.options.home_files

    def get_environment(self) -> dict[str, str]:
        """Return the key under the name that it looks for, and where its server is."""
        environment = super().get_environment()
        own = self.options.api_key_variable
        if own is not None and own in os.environ:
            environment[_KEY] = os.environ[own]
        if self.options.base_url:
            environment["GOOGLE_GEMINI_BASE_URL"] = self.options.base_url
        return environment

    def settings(self) -> dict[str, str]:
        """Return what keeps it one process, which a signal reaches."""
        return {"GEMINI_CLI_NO_RELAUNCH": "true", "GEMINI_TELEMETRY_ENABLED": "false"}

    def get_home_files(self, home: str) -> Mapping[str, str | Path]:
        """Return its settings, beside copies of the user's files."""
        options = self.options
        login = "oauth-personal" if self._has_login() else "gemini-api-key"
        settings: dict[str, Any] = {
            "general": {
                "enableAutoUpdate": False,
                "enableAutoUpdateNotification": False,
                "maxAttempts": options.attempts,
            },
            "privacy": {"usageStatisticsEnabled": False},
            "security": {"auth": {"selectedType": login}},
            "telemetry": {"enabled": False},
        }
        if not options.web:
            settings["tools"] = {"exclude": list(_WEB_TOOLS)}
        if options.max_turns is not None:
            settings["model"] = {"maxSessionTurns": options.max_turns}
        text = json.dumps(settings, indent=2)
        return {**super().get_home_files(home), ".gemini/settings.json": text}

    def get_record_patterns(self) -> tuple[str, ...]:
        """Return its sessions, those of subagents too."""
        return (".gemini/tmp/*/chats/*.jsonl",)

    def read_report(
        self, stdout: str, stderr: str, exit_code: int, records: Mapping[str, bytes]
    ) -> AgentReport:
        """Read its session, and how it ended from what it printed."""
        run = GeminiRun(stdout, stderr, records)
        return AgentReport(
            usage=run.usage(),
            error=run.error(exit_code),
            stopped_by="turns" if run.reached_its_turns() else "",
            model=run.model,
            session_id=run.session_id,
            steps=run.steps(),
        )
