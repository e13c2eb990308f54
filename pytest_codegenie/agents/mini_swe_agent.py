"""The agent ``mini-swe-agent``: ``mini`` of PyPI's ``mini-swe-agent``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated
from typing import Any
from typing import Literal

from pydantic import Field

from pytest_codegenie.agents.base import AgentReport
from pytest_codegenie.agents.litellm_models import LitellmAgent
from pytest_codegenie.agents.litellm_models import LitellmOptions
from pytest_codegenie.agents.mini_trajectory import MiniTrajectory
from pytest_codegenie.agents.records import text_at
from pytest_codegenie.errors import AgentUnavailable
from pytest_codegenie.models import EvalInstance
from pytest_codegenie.models import Positive


#: Below the home; ``*.traj.json`` is what its own inspector looks for.
_TRAJECTORY = "mini/mini.traj.json"
_SETTINGS = "mini/settings.yaml"
_OWN_CONFIG = "mini/config.yaml"
_PRICES = "mini/prices.json"
_TASK = "mini/task.yaml"

#: It looks for a configuration by name in its working directory first, where the
#: repository may have one, so it works in its home and its commands work in the tree.
#: The task comes on standard input: an argument has a limit. What the project's
#: programs find on PYTHONPATH is for them, not for its own imports. Unbuffered, its
#: output tells what it waits for when it is ended.
_START = f"""\
cd "$1" && cat >{_TASK} || exit 126
shift
project=$PYTHONPATH
unset PYTHONPATH
export PYTHONUNBUFFERED=1
[ -z "$project" ] || set -- "$@" -c "environment.env.PYTHONPATH=$project"
exec "$@"
"""

#: Ends that say something of its work, though not that it was done.
_OWN_ENDS = frozenset({"", "Submitted", "RepeatedFormatError", "TimeExceeded"})
#: Of its standard error, before it asks again.
_ASKS_AGAIN = re.compile(r"^Retrying .* in [\d.]+ seconds as it raised (.*)$", re.M)
#: Of its output: before a question, after litellm met a fault, and before the answer.
_RULE = "\N{BOX DRAWINGS LIGHT HORIZONTAL}" * 20
_HELP = "LiteLLM.Info: If you need to debug this error"
_ANSWERED = "mini-swe-agent (step "
_ADVICE = " You can permanently set your API key with"
#: Of the configuration that it comes with.
_OWN_LIMIT_USD = 3.0
_NO_LIMIT = (
    "the model has no known price, so max_cost_usd could not hold; give its 'prices'"
)


class MiniSweAgentOptions(LitellmOptions):
    """Options of ``mini-swe-agent``."""

    #: How it asks: for tool calls by Chat Completions or Anthropic's Messages, by
    #: OpenAI's Responses, or for commands in the text.
    model_class: Literal["litellm", "litellm_response", "litellm_textbased"] = "litellm"
    #: A configuration of yours (YAML) that is laid over its own.
    config: Path | None = None
    #: How often it may ask; None: as its configuration has it, which is without end.
    max_turns: Annotated[int, Field(gt=0)] | None = None
    #: None: as its configuration has it, which is 3 USD.
    max_cost_usd: Positive | None = None
    #: For models that reason; None: the model's own.
    effort: Literal["none", "minimal", "low", "medium", "high", "xhigh"] | None = None
    #: For each of its commands; None: as its configuration has it, which is 30.
    command_timeout_seconds: Annotated[int, Field(gt=0)] | None = None
    #: How often it asks before it gives up; the pauses are 4, 4, 4, 8, 16, ... seconds.
    attempts: Annotated[int, Field(gt=0)] = 4


class MiniSweAgent(LitellmAgent[MiniSweAgentOptions]):
    """Runs mini headless."""

    name = "mini-swe-agent"
    program = "mini"
    # A newer litellm imports what it does not depend on.
    install = "pip install mini-swe-agent==2.4.6 litellm==1.81.10"
    options_type = MiniSweAgentOptions

    def _check_options(self) -> None:
        super()._check_options()
        config = self.options.config
        if config is not None and not config.is_file():
            raise AgentUnavailable(
                f"agent {self.name!r}: the option 'config' names {str(config)!r}, but "
                f"there is no such file in {Path.cwd()}"
            )

    def get_cost_limit_usd(self) -> float | None:
        """Return ``max_cost_usd``, or else what its own configuration has."""
        own = None if self.options.config else _OWN_LIMIT_USD
        return self.options.max_cost_usd or own

    def build_prompt(self, instance: EvalInstance) -> str:
        """Return the task as a piece of configuration, in JSON, which is YAML too."""
        return json.dumps({"run": {"task": super().build_prompt(instance)}})

    def build_command(self, instance: EvalInstance, workdir: str) -> list[str]:
        """Return the command; the task comes on standard input."""
        home = instance.metadata["home"]
        command = ["sh", "-c", _START, "sh", home, *self.start(instance)]
        command += ["--yolo", "--exit-immediately", "--model", self.model()]
        command += ["--output", _TRAJECTORY]
        if self.options.model_class != "litellm":
            command += ["--model-class", self.options.model_class]
        for config in self._configs():
            command += ["--config", config]
        command += ["--config", f"environment.cwd={workdir}"]
        return [*command, *self.options.arguments]

    def _configs(self) -> Iterator[str]:
        textbased = self.options.model_class == "litellm_textbased"
        yield "mini_textbased.yaml" if textbased else "mini.yaml"
        if self.options.config is not None:
            yield _OWN_CONFIG
        yield from (_SETTINGS, _TASK)

    def settings(self) -> dict[str, str]:
        """Return what keeps it from asking at the first start, and its patience."""
        return {
            **super().settings(),
            "MSWEA_CONFIGURED": "true",
            "MSWEA_SILENT_STARTUP": "1",
            "MSWEA_MODEL_RETRY_STOP_AFTER_ATTEMPT": str(self.options.attempts),
            # Of an exception, a page of source and variables is printed otherwise.
            "_TYPER_STANDARD_TRACEBACK": "1",
        }

    def get_home_files(self, home: str) -> Mapping[str, str | Path]:
        """Return its configuration, beside copies of the user's files."""
        files = dict(super().get_home_files(home))
        files[_SETTINGS] = json.dumps(self._own_settings(), indent=2)
        if table := self.price_table():
            files[_PRICES] = json.dumps(table, indent=2)
        if self.options.config is not None:
            files[_OWN_CONFIG] = self.options.config.absolute()
        return files

    def _own_settings(self) -> Mapping[str, Mapping[str, Any]]:
        options = self.options
        agent = {"step_limit": options.max_turns, "cost_limit": options.max_cost_usd}
        environment = {
            "timeout": options.command_timeout_seconds,
            "env": {"PYTHONUNBUFFERED": ""},
        }
        model = {
            # A model without a price is no error.
            "cost_tracking": "ignore_errors",
            "litellm_model_registry": _PRICES if options.prices else None,
            "model_kwargs": _known({"api_base": self.api_base(), **self._effort()}),
        }
        return {
            "agent": _known(agent),
            "environment": _known(environment),
            "model": _known(model),
        }

    def _effort(self) -> dict[str, Any]:
        effort = self.options.effort
        if effort is None:
            return {}
        if self.options.model_class == "litellm_response":
            return {"reasoning": {"effort": effort}}
        # litellm drops it otherwise for models that it does not know.
        allowed = {"allowed_openai_params": ["reasoning_effort"]}
        return {
            "reasoning_effort": effort,
            **(allowed if self.provider_name() == "openai" else {}),
        }

    def get_record_patterns(self) -> tuple[str, ...]:
        """Return its trajectory."""
        return (_TRAJECTORY,)

    def read_report(
        self, stdout: str, stderr: str, exit_code: int, records: Mapping[str, bytes]
    ) -> AgentReport:
        """Read its trajectory; its output repeats that."""
        trajectory = MiniTrajectory(records.get(_TRAJECTORY, b""))
        usage = trajectory.usage()
        status = trajectory.exit_status
        facts = {"exit_status": status} if status else {}
        if usage.turns and usage.cost_usd is None and self.options.max_cost_usd:
            facts["cost_note"] = _NO_LIMIT
        return AgentReport(
            usage=usage,
            error=self._error(trajectory, stdout, stderr, exit_code),
            stopped_by=_limit(trajectory),
            model=text_at(trajectory.info, "config", "model", "model_name"),
            version=text_at(trajectory.info, "mini_version"),
            steps=trajectory.steps(),
            facts=facts,
        )

    def _error(
        self, trajectory: MiniTrajectory, stdout: str, stderr: str, exit_code: int
    ) -> str:
        status = trajectory.exit_status
        if not status and (fault := _still_asking(stdout, stderr)):
            return f"{self.name}: the model's server answered with an error: {fault}"
        if trajectory.info is None and exit_code == 127:
            program = self.options.program or self.program
            return f"{self.name}: {program!r} is not in the image; {self.install}"
        if trajectory.info is None and exit_code > 0 and stderr.strip():
            return f"{self.name} did not begin: {stderr.strip()[-500:]}"
        if status in _OWN_ENDS or _limit(trajectory):
            return ""
        reason = trajectory.reason.partition(_ADVICE)[0]
        if reason.startswith("litellm."):
            return f"{self.name}: the model's server answered with an error: {reason}"
        return f"{self.name} ended with {status}: {reason}"


def _limit(trajectory: MiniTrajectory) -> Literal["", "turns", "cost", "tokens"]:
    """Return which limit ended it; it calls those of turns and cost by one name."""
    if trajectory.exit_status == "ContextWindowExceededError":
        return "tokens"
    if trajectory.exit_status != "LimitsExceeded":
        return ""
    return "turns" if trajectory.reached_turns else "cost"


def _still_asking(stdout: str, stderr: str) -> str:
    """Return the fault for which it asks again when it is ended; "" for none.

    Its trajectory does not tell before the question is answered or given up.
    """
    faults = _ASKS_AGAIN.findall(stderr)
    since = stdout.rpartition(_RULE)[2]
    if not faults or _HELP not in since or _ANSWERED in since:
        return ""
    return str(faults[-1])


def _known(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values without those that are None."""
    return {key: value for key, value in values.items() if value is not None}
