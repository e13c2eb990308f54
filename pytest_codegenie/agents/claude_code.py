"""The agent ``claude-code``: ``@anthropic-ai/claude-code`` of npm."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated
from typing import Literal

from pydantic import Field

from pytest_codegenie.agents.base import AgentReport
from pytest_codegenie.agents.base import ProgramAgent
from pytest_codegenie.agents.base import ProgramOptions
from pytest_codegenie.agents.claude_code_records import ClaudeRun
from pytest_codegenie.models import EvalInstance


_KEY = "ANTHROPIC_API_KEY"
_BEARER = "ANTHROPIC_AUTH_TOKEN"
#: What ``claude setup-token`` prints, for a subscription.
_LOGIN_TOKEN = "CLAUDE_CODE_OAUTH_TOKEN"  # noqa: S105 -- the name of a variable
_LOGIN_FILE = ".claude/.credentials.json"
#: In place of random ones, so that a case looks the same each time.
_SESSION_ID = "00000000-0000-4000-8000-000000000001"
_USER_ID = "0" * 64
_WEB_TOOLS = ("WebFetch", "WebSearch")
#: They leave the tree, or wait for a time after the end of the run.
_UNFIT_TOOLS = (
    "CronCreate",
    "CronDelete",
    "CronList",
    "EnterWorktree",
    "ExitWorktree",
    "ScheduleWakeup",
)
_QUIET = (
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY",
    "CLAUDE_CODE_DISABLE_FEEDBACK_SURVEY",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL",
    "CLAUDE_CODE_DISABLE_TERMINAL_TITLE",
    "DISABLE_AUTOUPDATER",
    "DISABLE_ERROR_REPORTING",
    "DISABLE_TELEMETRY",
)
#: Which model stands for a family's name, and for helpers.
_MODEL_VARIABLES = (
    "ANTHROPIC_DEFAULT_FABLE_MODEL",
    "ANTHROPIC_DEFAULT_HAIKU_MODEL",
    "ANTHROPIC_DEFAULT_OPUS_MODEL",
    "ANTHROPIC_DEFAULT_SONNET_MODEL",
    "CLAUDE_CODE_SUBAGENT_MODEL",
)


class ClaudeCodeOptions(ProgramOptions):
    """Options of ``claude-code``."""

    max_turns: Annotated[int, Field(ge=1)] | None = None
    #: By its own prices; it ends after the answer that goes over it.
    max_cost_usd: Annotated[float, Field(gt=0)] | None = None
    #: In Claude Code's own words; None: ``acceptEdits`` in the workspace ``host``,
    #: ``bypassPermissions`` in those that isolate.
    permissions: (
        Literal["acceptEdits", "auto", "bypassPermissions", "default", "dontAsk"] | None
    ) = None
    #: Which tools need no permission, as ``--allowedTools`` has them.
    allowed_tools: tuple[str, ...] = ("Bash", "Edit", "NotebookEdit", "Skill", "Write")
    #: It may use its tools for the web.
    web: bool = False
    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    #: How often a request is tried again: 5 take about 20 seconds.
    retries: Annotated[int, Field(ge=0)] = 5


class ClaudeCodeAgent(ProgramAgent[ClaudeCodeOptions]):
    """Runs Claude Code headless."""

    name = "claude-code"
    program = "claude"
    install = "npm install -g @anthropic-ai/claude-code@2.1.197"
    options_type = ClaudeCodeOptions

    def build_command(self, instance: EvalInstance, workdir: str) -> list[str]:
        """Return the command; the prompt comes on standard input."""
        options = self.options
        command = [*self.start(instance), "--print", "--verbose"]
        # The other format without repetitions, "json", says nothing when it is ended.
        command += ["--output-format", "stream-json", "--session-id", _SESSION_ID]
        command += ["--strict-mcp-config", *self._permissions(instance)]
        unwanted = _UNFIT_TOOLS if options.web else (*_UNFIT_TOOLS, *_WEB_TOOLS)
        command += ["--disallowedTools", ",".join(unwanted)]
        if options.model:
            command += ["--model", options.model]
        if options.effort:
            command += ["--effort", options.effort]
        if options.max_turns is not None:
            command += ["--max-turns", str(options.max_turns)]
        if options.max_cost_usd is not None:
            command += ["--max-budget-usd", f"{options.max_cost_usd:.10g}"]
        return [*command, *options.arguments]

    def _permissions(self, instance: EvalInstance) -> list[str]:
        on_host = instance.metadata["workspace"] == "host"
        usual = "acceptEdits" if on_host else "bypassPermissions"
        mode = self.options.permissions or usual
        words = ["--permission-mode", mode]
        tools = self.options.allowed_tools
        if mode != "bypassPermissions" and tools:
            words += ["--allowedTools", ",".join(tools)]
        return words

    def build_prompt(self, instance: EvalInstance) -> str:
        """Return the prompt; none is taken for a command of the program's own."""
        prompt = super().build_prompt(instance)
        return f" {prompt}" if prompt.startswith("/") else prompt

    def settings(self) -> dict[str, str]:
        """Return what keeps it from calling home, and where its server is."""
        options = self.options
        settings = dict.fromkeys(_QUIET, "1")
        settings["CLAUDE_CODE_MAX_RETRIES"] = str(options.retries)
        # Without it, root is refused what ``permissions`` may say.
        settings["IS_SANDBOX"] = "1"
        if options.base_url:
            settings["ANTHROPIC_BASE_URL"] = options.base_url
            if options.model:
                # A server of one's own may have no other.
                settings |= dict.fromkeys(_MODEL_VARIABLES, options.model)
        return settings

    def key_variables(self) -> tuple[str, ...]:
        """Return those that it knows: of a key, of a gateway, of a subscription."""
        return (_KEY, _BEARER, _LOGIN_TOKEN)

    def provider(self) -> str:
        """Return Anthropic's."""
        return "https://api.anthropic.com"

    def get_environment(self) -> dict[str, str]:
        """Return its variables; a key has the name by which it looks for it."""
        environment = super().get_environment()
        own = self.options.api_key_variable
        if own is None and _LOGIN_FILE not in self.options.home_files:
            names = self.key_variables()
            given = {name: os.environ[name] for name in names if name in os.environ}
            environment = given | environment
        elif own not in (None, *self.key_variables()) and own in environment:
            environment[_KEY] = environment[own]
        return environment

    def probe(self, environment: Mapping[str, str], *, shared: bool) -> str:
        """Return "" if it can be started, or else why not and what to do about it."""
        own = self.options.api_key_variable
        known = self.key_variables()
        if own and environment.get(own) and not any(map(environment.get, known)):
            return (
                f"agent {self.name!r}: {own} is given by 'env' of the run file, where "
                f"it has to be called {_KEY}, without the option 'api_key_variable'"
            )
        return super().probe(environment, shared=shared)

    def get_home_files(self, home: str) -> Mapping[str, str | Path]:
        """Return who the user is, beside copies of the user's files."""
        state = json.dumps({"userID": _USER_ID, "hasCompletedOnboarding": True})
        return {".claude.json": state, **super().get_home_files(home)}

    def get_record_patterns(self) -> tuple[str, ...]:
        """Return its transcripts, and the long results that they refer to."""
        return (".claude/projects/*.jsonl", ".claude/projects/*/tool-results/*")

    def read_report(
        self, stdout: str, stderr: str, exit_code: int, records: Mapping[str, bytes]
    ) -> AgentReport:
        """Read its transcripts, and what it printed at its end."""
        run = ClaudeRun(stdout, stderr, records)
        report = run.report()
        note = self._cost_note(run)
        if report.usage.cost_usd is None or not note:
            return report
        facts = {**(report.facts or {}), "cost_note": note}
        return dataclasses.replace(report, facts=facts)

    def _cost_note(self, run: ClaudeRun) -> str:
        """Return what its cost is worth where it is no price that anybody pays."""
        if self.options.base_url:
            return (
                "by Claude Code's own prices, which need not be this server's; a model "
                "that it does not know has the price of one that it knows"
            )
        if not run.has_key:
            return "by Claude Code's own prices; a subscription is not billed so"
        return ""
