"""The agent ``my-agent``: how it is started, and what its output means."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_codegenie.agents import Usage
from pytest_codegenie.agents.base import AgentReport
from pytest_codegenie.agents.base import ProgramAgent
from pytest_codegenie.agents.base import ProgramOptions
from pytest_codegenie.agents.records import amount_at
from pytest_codegenie.agents.records import count_at
from pytest_codegenie.agents.records import json_lines
from pytest_codegenie.agents.records import text_at
from pytest_codegenie.models import EvalInstance
from pytest_codegenie.trajectories import TrajectoryBuilder


class MyOptions(ProgramOptions):
    """What a run file may say under ``options``, beside what all programs have."""

    #: So many answers of the model at most; None: no limit.
    max_turns: int | None = None


class MyAgent(ProgramAgent[MyOptions]):
    """Runs ``my-agent``; it prints a line of JSON for whatever it does."""

    name = "my-agent"
    program = "my-agent"
    install = "pip install my-agent-plugin"
    options_type = MyOptions

    def build_command(self, instance: EvalInstance, workdir: str) -> list[str]:
        """Return the command; the prompt comes on standard input."""
        command = [*self.start(instance), "--json"]
        if self.options.model:
            command += ["--model", self.options.model]
        if self.options.max_turns is not None:
            command += ["--max-turns", str(self.options.max_turns)]
        return [*command, *self.options.arguments]

    def key_variables(self) -> tuple[str, ...]:
        """Return where the key of the model's server is; without it nothing starts."""
        return ("MY_AGENT_KEY",)

    def provider(self) -> str:
        """Return the model's server: all that it can reach from where it is alone."""
        return "https://api.example.org"

    def settings(self) -> dict[str, str]:
        """Return what keeps it from calling home."""
        return {"MY_AGENT_TELEMETRY": "off"}

    def read_report(
        self, stdout: str, stderr: str, exit_code: int, records: Mapping[str, bytes]
    ) -> AgentReport:
        """Read its lines. It may have been ended in the middle of any of them."""
        events = list(json_lines(stdout))
        steps = TrajectoryBuilder()
        for event in events:
            if event.get("event") == "answer":
                steps.act(text_at(event, "text") or "")
        last = events[-1] if events else {}
        return AgentReport(
            # What it does not say stays None: unknown, not 0.
            usage=Usage(
                input_tokens=count_at(last, "usage", "input_tokens"),
                output_tokens=count_at(last, "usage", "output_tokens"),
                cost_usd=amount_at(last, "usage", "cost_usd"),
                turns=sum(event.get("event") == "answer" for event in events),
            ),
            error=self._error(last, stderr),
            stopped_by="turns" if last.get("event") == "max_turns" else "",
            model=text_at(last, "model"),
            steps=steps,
        )

    @staticmethod
    def _error(last: Mapping[str, object], stderr: str) -> str:
        """Return why the run says nothing of its work, whatever its exit code is."""
        if last.get("event") == "error":
            return f"my-agent: the model's server answered: {last.get('message')}"
        if not last:
            return f"my-agent did not begin: {stderr.strip()[-500:]}"
        return ""
