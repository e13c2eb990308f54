"""The agent ``qwen-code``: ``@qwen-code/qwen-code`` of npm."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated
from typing import Any
from typing import Literal

from pydantic import Field

from pytest_codegenie.agents.base import AgentReport
from pytest_codegenie.agents.base import ProgramAgent
from pytest_codegenie.agents.base import ProgramOptions
from pytest_codegenie.agents.protocol import Usage
from pytest_codegenie.agents.records import at
from pytest_codegenie.agents.records import count_at
from pytest_codegenie.agents.records import json_lines
from pytest_codegenie.agents.records import plain
from pytest_codegenie.agents.records import text_at
from pytest_codegenie.agents.records import total
from pytest_codegenie.models import EvalInstance
from pytest_codegenie.trajectories import Metrics
from pytest_codegenie.trajectories import ToolCall
from pytest_codegenie.trajectories import TrajectoryBuilder


#: In place of a random one, so that a case looks the same each time.
_SESSION_ID = "00000000-0000-4000-8000-000000000001"
#: The dialect to the variables of its key and of its server's URL, and to where the
#: server is usually.
_DIALECTS = {
    "anthropic": (
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
        "https://api.anthropic.com",
    ),
    "gemini": (
        "GEMINI_API_KEY",
        "GOOGLE_GEMINI_BASE_URL",
        "https://generativelanguage.googleapis.com",
    ),
    "openai": ("OPENAI_API_KEY", "OPENAI_BASE_URL", "https://api.openai.com/v1"),
}
_WEB_TOOLS = "web_fetch,web_search"
_TOO_MANY_TURNS = 53
_API_ERROR = "[API Error:"


class QwenCodeOptions(ProgramOptions):
    """Options of ``qwen-code``."""

    #: The dialect of the model's server, as ``--auth-type`` has it.
    api: Literal["anthropic", "gemini", "openai"] = "openai"
    max_turns: Annotated[int, Field(ge=1)] | None = None
    #: In Qwen Code's own words; with ``auto-edit`` it edits, but has no shell.
    permissions: Literal["auto-edit", "yolo"] = "yolo"
    #: Of models that reason.
    effort: Literal["low", "medium", "high", "max"] | None = None
    #: It may use its tools for the web.
    web: bool = False


class QwenCodeAgent(ProgramAgent[QwenCodeOptions]):
    """Runs Qwen Code headless; it reports no cost."""

    name = "qwen-code"
    program = "qwen"
    install = "npm install -g @qwen-code/qwen-code@0.15.10"
    options_type = QwenCodeOptions

    def build_command(self, instance: EvalInstance, workdir: str) -> list[str]:
        """Return the command; the prompt comes on standard input."""
        options = self.options
        command = [*self.start(instance), "--auth-type", options.api]
        command += ["--approval-mode", options.permissions]
        # Its session has the rest.
        command += ["--output-format", "text", "--chat-recording"]
        command += ["--session-id", _SESSION_ID]
        if options.model:
            command += ["--model", options.model]
        if options.max_turns is not None:
            command += ["--max-session-turns", str(options.max_turns)]
        if not options.web:
            command += ["--exclude-tools", _WEB_TOOLS]
        return [*command, *options.arguments]

    def build_prompt(self, instance: EvalInstance) -> str:
        """Return the prompt; none is taken for a command of the program's own."""
        prompt = super().build_prompt(instance)
        return f" {prompt}" if prompt.startswith("/") else prompt

    def key_variables(self) -> tuple[str, ...]:
        """Return its dialect's."""
        return (_DIALECTS[self.options.api][0],)

    def provider(self) -> str:
        """Return where servers of its dialect are usually."""
        return _DIALECTS[self.options.api][2]

    def get_environment(self) -> dict[str, str]:
        """Return the key under the name that it looks for, and where its server is."""
        environment = super().get_environment()
        options = self.options
        key, url, _ = _DIALECTS[options.api]
        own = options.api_key_variable
        if own is not None and own in os.environ:
            environment[key] = os.environ[own]
        if options.base_url:
            environment[url] = options.base_url
        return environment

    def settings(self) -> dict[str, str]:
        """Return what keeps it from asking the model for a title."""
        return {"QWEN_DISABLE_AUTO_TITLE": "1", "QWEN_TELEMETRY_ENABLED": "false"}

    def get_home_files(self, home: str) -> Mapping[str, str | Path]:
        """Return its settings, beside copies of the user's files."""
        options = self.options
        settings: dict[str, Any] = {
            "$version": 4,
            "general": {"enableAutoUpdate": False},
            "memory": {
                "enableManagedAutoDream": False,
                "enableManagedAutoMemory": False,
            },
            "privacy": {"usageStatisticsEnabled": False},
            "security": {"auth": {"selectedType": options.api}},
            "telemetry": {"enabled": False},
        }
        # It asks seven times, and its library so often for each of them.
        generation: dict[str, Any] = {"maxRetries": 1}
        if options.effort:
            generation["reasoning"] = {"effort": options.effort}
        settings["model"] = {"generationConfig": generation}
        text = json.dumps(settings, indent=2)
        return {**super().get_home_files(home), ".qwen/settings.json": text}

    def get_record_patterns(self) -> tuple[str, ...]:
        """Return its sessions, those of subagents too."""
        return (".qwen/projects/*.jsonl",)

    def read_report(
        self, stdout: str, stderr: str, exit_code: int, records: Mapping[str, bytes]
    ) -> AgentReport:
        """Read its session; what it prints is its last word."""
        entries = [entry for text in records.values() for entry in json_lines(text)]
        answers = [e for e in _events(entries) if _is(e, "api_response")]
        steps = TrajectoryBuilder()
        for entry in entries:
            self._add_step(steps, entry)
        return AgentReport(
            usage=self._usage(answers),
            error=self._error(entries, f"{stdout}\n{stderr}", exit_code),
            stopped_by="turns" if exit_code == _TOO_MANY_TURNS else "",
            model=_last(answers, "model"),
            version=_last(entries, "version"),
            session_id=_last(entries, "sessionId"),
            steps=steps,
        )

    def _usage(self, answers: list[dict[str, Any]]) -> Usage:
        """Return the sum over all requests, also of subagents."""
        return Usage(
            input_tokens=total(count_at(e, "input_token_count") for e in answers),
            cached_tokens=total(
                count_at(e, "cached_content_token_count") for e in answers
            ),
            output_tokens=total(
                self._output(e, "output_token_count", "thoughts_token_count")
                for e in answers
            ),
            turns=len(answers) or None,
        )

    def _output(self, counts: Any, output: str, thoughts: str) -> int | None:
        # Other dialects count thoughts as output already.
        keys = (output, thoughts) if self.options.api == "gemini" else (output,)
        known: int | None = total(count_at(counts, key) for key in keys)
        return known

    @staticmethod
    def _error(entries: list[dict[str, Any]], printed: str, exit_code: int) -> str:
        """Return the error that its last question came to."""
        asked = [
            event
            for event in _events(entries)
            if _is(event, "api_response") or _is_error(event)
        ]
        words = ""
        if asked and _is_error(asked[-1]):
            words = text_at(asked[-1], "error_message") or "no reason given"
        elif not asked and _API_ERROR in printed:
            words = printed.rpartition(_API_ERROR)[2].strip().rstrip("]")
        if words:
            return f"qwen-code: the model's server answered with an error: {words}"
        if not asked and exit_code > 0 and printed.strip():
            return f"qwen-code did not begin: {printed.strip()[-500:]}"
        return ""

    def _add_step(self, steps: TrajectoryBuilder, entry: dict[str, Any]) -> None:
        kind, time = entry.get("type"), entry.get("timestamp")
        parts = at(entry, "message", "parts")
        parts = parts if isinstance(parts, list) else []
        if kind == "user":
            steps.say("user", plain(_texts(parts)), timestamp=time)
        elif kind == "tool_result":
            for part in parts:
                if (answer := at(part, "functionResponse")) is not None:
                    steps.observe(_came_of(answer), text_at(answer, "id"))
        elif kind == "assistant":
            steps.act(
                plain(_texts(parts)),
                reasoning=plain([p for p in parts if at(p, "thought")]),
                calls=tuple(_calls(parts)),
                metrics=self._metrics(entry.get("usageMetadata")),
                model_name=text_at(entry, "model"),
                timestamp=time,
            )

    def _metrics(self, usage: Any) -> Metrics:
        return Metrics(
            prompt_tokens=count_at(usage, "promptTokenCount"),
            cached_tokens=count_at(usage, "cachedContentTokenCount"),
            completion_tokens=self._output(
                usage, "candidatesTokenCount", "thoughtsTokenCount"
            ),
        )


def _events(entries: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield what its session has noted of requests and tools."""
    for entry in entries:
        event = at(entry, "systemPayload", "uiEvent")
        if isinstance(event, dict):
            yield event


def _is(event: dict[str, Any], kind: str) -> bool:
    return event.get("event.name") == f"qwen-code.{kind}"


def _is_error(event: dict[str, Any]) -> bool:
    """Return whether a request failed, other than because it was ended itself."""
    kind = text_at(event, "error_type") or ""
    return _is(event, "api_error") and "Abort" not in kind


def _last(entries: list[dict[str, Any]], key: str) -> str | None:
    found = (text_at(entry, key) for entry in reversed(entries))
    return next((text for text in found if text), None)


def _texts(parts: list[Any]) -> list[Any]:
    return [
        part
        for part in parts
        if text_at(part, "text") is not None and not at(part, "thought")
    ]


def _calls(parts: list[Any]) -> Iterator[ToolCall]:
    for part in parts:
        call = at(part, "functionCall")
        if call is not None:
            arguments = at(call, "args")
            yield ToolCall(
                tool_call_id=text_at(call, "id") or "",
                function_name=text_at(call, "name") or "",
                arguments=arguments if isinstance(arguments, dict) else {},
            )


def _came_of(answer: Any) -> str:
    """Return the text of a tool's answer, or the whole where it has none."""
    response = at(answer, "response")
    found = [text_at(response, key) for key in ("output", "error")]
    return next((text for text in found if text is not None), plain(response))
