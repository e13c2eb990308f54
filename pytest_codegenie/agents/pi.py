"""The agent ``pi``: ``@mariozechner/pi-coding-agent`` of npm."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from typing import Literal

from pytest_codegenie.agents.base import AgentReport
from pytest_codegenie.agents.base import ProgramAgent
from pytest_codegenie.agents.base import ProgramOptions
from pytest_codegenie.agents.protocol import Usage
from pytest_codegenie.agents.providers import PROVIDERS
from pytest_codegenie.agents.providers import Prices
from pytest_codegenie.agents.providers import Provider
from pytest_codegenie.agents.records import amount_at
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


#: What the server that ``base_url`` names is called in pi's own settings.
_OWN_PROVIDER = "local"
_DEFAULT_KEYS = {
    "anthropic-messages": "ANTHROPIC_API_KEY",
    "openai-completions": "OPENAI_API_KEY",
    "openai-responses": "OPENAI_API_KEY",
}


class PiOptions(ProgramOptions):
    """Options of ``pi``."""

    #: As pi calls it; with ``base_url``, only ``api`` counts.
    provider: str = "anthropic"
    #: The dialect of the server that ``base_url`` names.
    api: Literal["anthropic-messages", "openai-completions", "openai-responses"] = (
        "openai-completions"
    )
    #: None: what pi thinks fit; behind ``base_url``, off.
    thinking: Literal["off", "minimal", "low", "medium", "high", "xhigh"] | None = None
    #: Which tools it has; None: read, bash, edit, write.
    tools: tuple[str, ...] | None = None
    #: USD for a million tokens, for a model behind ``base_url``, which pi knows no
    #: prices of; None: its cost is unknown.
    prices: Prices | None = None


class PiAgent(ProgramAgent[PiOptions]):
    """Runs pi headless; it limits neither turns nor cost."""

    name = "pi"
    program = "pi"
    install = "npm install -g @mariozechner/pi-coding-agent@0.73.1"
    options_type = PiOptions

    def build_command(self, instance: EvalInstance, workdir: str) -> list[str]:
        """Return the command; the prompt comes on standard input."""
        options = self.options
        # Its other mode prints each answer again with each word; the session has all.
        command = [*self.start(instance), "--offline", "--print", "--mode", "text"]
        provider = _OWN_PROVIDER if options.base_url else options.provider
        command += ["--provider", provider]
        if options.model:
            command += ["--model", options.model]
        if options.thinking:
            command += ["--thinking", options.thinking]
        if options.tools is not None:
            command += ["--tools", ",".join(options.tools)]
        return [*command, *options.arguments]

    def settings(self) -> dict[str, str]:
        """Return what keeps it from calling home."""
        return {"PI_OFFLINE": "1", "PI_TELEMETRY": "0"}

    def key_variables(self) -> tuple[str, ...]:
        """Return the provider's; of a server of one's own, its dialect's."""
        if self.options.base_url:
            return (_DEFAULT_KEYS[self.options.api],)
        known = self._known_provider()
        return known.key_variables if known else ()

    def provider(self) -> str:
        """Return the provider's URL where it is known here."""
        known = self._known_provider()
        return known.url if known else ""

    def _known_provider(self) -> Provider | None:
        return PROVIDERS.get(self.options.provider)

    def get_environment(self) -> dict[str, str]:
        """Return the key under the name that pi looks for, too."""
        environment = super().get_environment()
        own, known = self.options.api_key_variable, self.key_variables()
        if own is not None and own in os.environ and known:
            environment[known[0]] = os.environ[own]
        return environment

    def get_home_files(self, home: str) -> Mapping[str, str | Path]:
        """Return the server that ``base_url`` names, beside copies of the user's."""
        files = dict(super().get_home_files(home))
        options = self.options
        if options.base_url:
            provider = {
                "baseUrl": options.base_url,
                "api": options.api,
                # pi looks a variable of that name up.
                "apiKey": self._key_variables()[0] if self._key_variables() else "none",
                "models": [self._own_model()],
            }
            text = json.dumps({"providers": {_OWN_PROVIDER: provider}}, indent=2)
            files[".pi/agent/models.json"] = text
        return files

    def _own_model(self) -> dict[str, Any]:
        """Return what pi is told of the model behind ``base_url``."""
        options = self.options
        model: dict[str, Any] = {"id": options.model or "default"}
        if options.thinking not in (None, "off"):
            # Otherwise it would not send the level.
            model["reasoning"] = True
        prices = options.prices
        if prices is not None:
            rest = {"cacheRead": prices.cache_read, "cacheWrite": prices.cache_write}
            model["cost"] = {"input": prices.input, "output": prices.output} | {
                key: prices.input if price is None else price
                for key, price in rest.items()
            }
        return model

    def get_record_patterns(self) -> tuple[str, ...]:
        """Return its sessions."""
        return (".pi/agent/sessions/*.jsonl",)

    def read_report(
        self, stdout: str, stderr: str, exit_code: int, records: Mapping[str, bytes]
    ) -> AgentReport:
        """Read its session; what it prints is its last word."""
        entries = [entry for text in records.values() for entry in json_lines(text)]
        messages = [
            (entry, entry["message"])
            for entry in entries
            if entry.get("type") == "message" and isinstance(entry.get("message"), dict)
        ]
        steps = TrajectoryBuilder()
        for entry, message in messages:
            self._add_step(steps, message, entry.get("timestamp"))
        answers = [m for _, m in messages if m.get("role") == "assistant"]
        last = answers[-1] if answers else {}
        head = next((one for one in entries if one.get("type") == "session"), {})
        return AgentReport(
            usage=self._usage(answers),
            error=self._error(last, stderr),
            model=text_at(last, "model"),
            session_id=text_at(head, "id"),
            steps=steps,
        )

    def _usage(self, answers: list[dict[str, Any]]) -> Usage:
        metrics = [self._metrics(answer) for answer in answers]
        return Usage(
            input_tokens=total(one.prompt_tokens for one in metrics),
            cached_tokens=total(one.cached_tokens for one in metrics),
            output_tokens=total(one.completion_tokens for one in metrics),
            cost_usd=total(one.cost_usd for one in metrics),
            turns=sum(not _failed(answer) for answer in answers) or None,
        )

    def _metrics(self, answer: dict[str, Any]) -> Metrics:
        parts = ("input", "cacheRead", "cacheWrite")
        if _failed(answer) and not count_at(answer, "usage", "totalTokens"):
            return Metrics()  # What it took is unknown, though it says 0.
        cost = amount_at(answer, "usage", "cost", "total")
        priced = not self.options.base_url or self.options.prices is not None
        return Metrics(
            prompt_tokens=total(count_at(answer, "usage", part) for part in parts),
            cached_tokens=count_at(answer, "usage", "cacheRead"),
            completion_tokens=count_at(answer, "usage", "output"),
            # It takes what it knows no price of for free.
            cost_usd=cost if priced else None,
        )

    @staticmethod
    def _error(last: dict[str, Any], stderr: str) -> str:
        if last.get("stopReason") == "error":
            words = text_at(last, "errorMessage") or "no reason given"
            return f"pi: the model's server answered with an error: {words}"
        if not last and stderr.strip():
            return f"pi did not begin: {stderr.strip()[-500:]}"
        return ""

    def _add_step(
        self, steps: TrajectoryBuilder, message: dict[str, Any], time: Any
    ) -> None:
        role, content = message.get("role"), message.get("content")
        if role == "user":
            steps.say("user", plain(content), timestamp=time)
        elif role == "toolResult":
            steps.observe(plain(content), text_at(message, "toolCallId"))
        elif role == "assistant":
            parts = content if isinstance(content, list) else []
            steps.act(
                plain([part for part in parts if at(part, "type") == "text"]),
                reasoning=plain([p for p in parts if at(p, "type") == "thinking"]),
                calls=tuple(
                    ToolCall(
                        tool_call_id=text_at(part, "id") or "",
                        function_name=text_at(part, "name") or "",
                        arguments=_arguments(at(part, "arguments")),
                    )
                    for part in parts
                    if at(part, "type") == "toolCall"
                ),
                metrics=self._metrics(message),
                model_name=text_at(message, "model"),
                timestamp=time,
            )


def _failed(answer: dict[str, Any]) -> bool:
    """Return whether an answer is an error of the server; pi may ask again."""
    return answer.get("stopReason") == "error"


def _arguments(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
