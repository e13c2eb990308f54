"""The agent ``opencode``: ``opencode-ai`` of npm."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from typing import Literal

from pytest_codegenie.agents.base import AgentReport
from pytest_codegenie.agents.base import ProgramAgent
from pytest_codegenie.agents.base import ProgramOptions
from pytest_codegenie.agents.opencode_records import OpencodeRun
from pytest_codegenie.agents.providers import PROVIDERS
from pytest_codegenie.agents.providers import Prices
from pytest_codegenie.agents.providers import Provider
from pytest_codegenie.errors import AgentUnavailable
from pytest_codegenie.models import EvalInstance


#: What the server that ``base_url`` names is called in opencode's own settings.
_OWN_PROVIDER = "local"
#: The dialect to the package that speaks it, which opencode has built in, and to the
#: variable that usually holds the key.
_DIALECTS = {
    "anthropic-messages": ("@ai-sdk/anthropic", "ANTHROPIC_API_KEY"),
    "openai-completions": ("@ai-sdk/openai-compatible", "OPENAI_API_KEY"),
    "openai-responses": ("@ai-sdk/openai", "OPENAI_API_KEY"),
}
_QUIET = (
    "OPENCODE_DISABLE_AUTOUPDATE",
    "OPENCODE_DISABLE_LSP_DOWNLOAD",
    "OPENCODE_DISABLE_MODELS_FETCH",
    "OPENCODE_DISABLE_SHARE",
    "OPENCODE_DISABLE_TERMINAL_TITLE",
)
_WEB_TOOLS = ("webfetch", "websearch")
_CONFIG = ".config/opencode"
_LOG = ".local/share/opencode/log/opencode.log"
_PLUGINS = "@opencode-ai/plugin"


class OpencodeOptions(ProgramOptions):
    """Options of ``opencode``; ``model`` is ``provider/model`` without ``base_url``."""

    #: The dialect of the server that ``base_url`` names.
    api: Literal["anthropic-messages", "openai-completions", "openai-responses"] = (
        "openai-completions"
    )
    #: As ``permission`` of its settings. ``ask`` means no, and ends the run: nobody is
    #: there to be asked. None: everything is allowed.
    permissions: dict[str, Any] | None = None
    #: It may use its tools for the web, where ``permissions`` do not say otherwise.
    web: bool = False
    #: The model's variant, which is its effort: ``high``, ``max``, ``minimal``, ...
    variant: str | None = None
    #: USD for a million tokens, for a model behind ``base_url``, which opencode knows
    #: no prices of; None: its cost is unknown.
    prices: Prices | None = None


class OpencodeAgent(ProgramAgent[OpencodeOptions]):
    """Runs opencode headless; it limits neither turns nor cost."""

    name = "opencode"
    program = "opencode"
    install = "npm install -g opencode-ai@1.18.33"
    options_type = OpencodeOptions

    def __init__(self) -> None:
        super().__init__()
        self._prompt = ""

    def _check_options(self) -> None:
        super()._check_options()
        model = self.options.model or ""
        if not model or not (self.options.base_url or "/" in model.strip("/")):
            raise AgentUnavailable(
                f"agent {self.name!r}: the option 'model' must be 'provider/model', "
                f"such as 'anthropic/claude-sonnet-4-5', got {self.options.model!r}"
            )

    def build_prompt(self, instance: EvalInstance) -> str:
        """Return the prompt, and remember it: what it prints does not repeat it."""
        self._prompt = super().build_prompt(instance)
        return self._prompt

    def build_command(self, instance: EvalInstance, workdir: str) -> list[str]:
        """Return the command; the prompt comes on standard input."""
        command = [*self.start(instance), "run", "--pure", "--format", "json"]
        command += ["--model", f"{self._provider_name()}/{self._model_name()}"]
        # Without a title it would ask the model for one.
        command += ["--title", "task"]
        if self.options.variant:
            command += ["--variant", self.options.variant]
        return [*command, *self.options.arguments]

    def _provider_name(self) -> str:
        if self.options.base_url:
            return _OWN_PROVIDER
        return (self.options.model or "").partition("/")[0]

    def _model_name(self) -> str:
        model = self.options.model or ""
        return model if self.options.base_url else model.partition("/")[2]

    def settings(self) -> dict[str, str]:
        """Return what keeps it quiet, and its settings.

        In a variable, they hold over those that a repository has for it.
        """
        config = {"OPENCODE_CONFIG_CONTENT": json.dumps(self._config())}
        return dict.fromkeys(_QUIET, "1") | config

    def _config(self) -> dict[str, Any]:
        name = self._provider_name()
        model = f"{name}/{self._model_name()}"
        config: dict[str, Any] = {
            "autoupdate": False,
            "enabled_providers": [name],
            "model": model,
            "permission": self._permissions(),
            "share": "disabled",
            "small_model": model,
            "snapshot": False,
        }
        if provider := self._provider_config():
            config["provider"] = {name: provider}
        return config

    def _permissions(self) -> dict[str, Any]:
        own = self.options.permissions
        web = {} if self.options.web else dict.fromkeys(_WEB_TOOLS, "deny")
        return {"*": "allow", **web} if own is None else {**web, **own}

    def _provider_config(self) -> dict[str, Any]:
        """Return what differs from what opencode knows of the provider."""
        options = self.options
        names = self._key_variables()
        key = {"apiKey": f"{{env:{names[0]}}}"} if names else {}
        if not options.base_url:
            return {"options": key} if options.api_key_variable else {}
        model: dict[str, Any] = {}
        if options.variant:
            # Otherwise it has no variants; how much one may think is a share of this.
            model["reasoning"] = True
            model["limit"] = {"context": 200_000, "output": 32_000}
        if options.prices is not None:
            model["cost"] = options.prices.model_dump(exclude_none=True)
        return {
            "npm": _DIALECTS[options.api][0],
            "options": {"baseURL": options.base_url, **key},
            "models": {self._model_name(): model},
        }

    def key_variables(self) -> tuple[str, ...]:
        """Return the provider's; of a server of one's own, its dialect's."""
        if self.options.base_url:
            return (_DIALECTS[self.options.api][1],)
        known = self._known_provider()
        return known.key_variables if known else ()

    def provider(self) -> str:
        """Return the provider's URL where it is known here."""
        known = self._known_provider()
        return known.url if known else ""

    def _known_provider(self) -> Provider | None:
        return PROVIDERS.get(self._provider_name())

    def get_home_files(self, home: str) -> Mapping[str, str | Path]:
        """Return what keeps it from installing packages at its start."""
        lock = {"packages": {"": {"dependencies": {_PLUGINS: "*"}}}}
        return {
            **super().get_home_files(home),
            f"{_CONFIG}/node_modules/.keep": "",
            f"{_CONFIG}/package-lock.json": json.dumps(lock),
        }

    def get_record_patterns(self) -> tuple[str, ...]:
        """Return its log: what it prints is its record, but for errors in between."""
        return (_LOG,)

    def read_report(
        self, stdout: str, stderr: str, exit_code: int, records: Mapping[str, bytes]
    ) -> AgentReport:
        """Read the events that it printed, and its log."""
        options = self.options
        run = OpencodeRun(stdout, records.get(_LOG, b""))
        usage = run.usage(
            # It takes what it knows no price of for free.
            priced=not options.base_url or options.prices is not None
        )
        return AgentReport(
            usage=usage,
            error=run.error(stderr),
            model=self._model_name(),
            version=run.version,
            session_id=run.session_id,
            steps=run.steps(self._prompt, priced=usage.cost_usd is not None),
            facts=run.facts(),
        )
