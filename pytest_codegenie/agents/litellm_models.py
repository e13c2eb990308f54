"""What agents have in common that ask models through litellm.

It names a model ``provider/model``, finds a key by the provider's variable, takes the
URL of another server as ``api_base``, and prices a model by a table that can be added
to.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from typing import TypeVar

from pytest_codegenie.agents.base import ProgramAgent
from pytest_codegenie.agents.base import ProgramOptions
from pytest_codegenie.agents.providers import PROVIDERS
from pytest_codegenie.agents.providers import Prices
from pytest_codegenie.agents.providers import Provider
from pytest_codegenie.errors import AgentUnavailable


#: Names that litellm knows without their provider.
_BARE_NAMES = (
    ("claude-", "anthropic"),
    ("gpt-", "openai"),
    ("chatgpt-", "openai"),
    ("o1", "openai"),
    ("o3", "openai"),
    ("o4", "openai"),
)
_MILLION = 1_000_000


class LitellmOptions(ProgramOptions):
    """Options of agents that ask models through litellm."""

    #: For a model that litellm knows no prices of; without them its cost is unknown.
    prices: Prices | None = None


_Options = TypeVar("_Options", bound=LitellmOptions)


class LitellmAgent(ProgramAgent[_Options]):
    """A base for adapters of such agents."""

    options_type = LitellmOptions

    def _check_options(self) -> None:
        super()._check_options()
        if not self.options.model:
            raise AgentUnavailable(
                f"agent {self.name!r}: the option 'model' is missing; name one as "
                "litellm does, such as 'anthropic/claude-sonnet-4-5' or 'openai/gpt-5'"
            )

    def model(self) -> str:
        """Return the model as litellm calls it."""
        return self.options.model or ""

    def provider_name(self) -> str:
        """Return the provider that litellm takes the model to be of; "": unknown."""
        prefix, slash, _ = self.model().partition("/")
        if slash:
            return prefix
        return next(
            (name for start, name in _BARE_NAMES if prefix.startswith(start)), ""
        )

    def _known_provider(self) -> Provider | None:
        return PROVIDERS.get(self.provider_name())

    def key_variables(self) -> tuple[str, ...]:
        """Return the provider's; none where it is not known here."""
        known = self._known_provider()
        return known.key_variables if known else ()

    def provider(self) -> str:
        """Return the provider's URL where it is known here."""
        known = self._known_provider()
        return known.url if known else ""

    def settings(self) -> dict[str, str]:
        """Return what keeps litellm from fetching prices and from reading a .env."""
        return {
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "LITELLM_MODE": "PRODUCTION",
        }

    def get_environment(self) -> dict[str, str]:
        """Return the key under the name that litellm looks for, too."""
        environment = super().get_environment()
        own = self.options.api_key_variable
        if own is not None and own in environment:
            environment[self._usual_variable()] = environment[own]
        return environment

    def _usual_variable(self) -> str:
        known = self._known_provider()
        if known is not None:
            return known.key_variables[0]
        return f"{self.provider_name() or 'openai'}_API_KEY".upper()

    def api_base(self) -> str | None:
        """Return ``base_url`` in the form that litellm adds its paths to."""
        url = self.options.base_url
        if url is None:
            return None
        url = url.rstrip("/")
        if self.provider_name() == "anthropic":
            return url.removesuffix("/v1")
        return url

    def price_table(self, **facts: Any) -> Mapping[str, Any]:
        """Return what litellm's table lacks; {} without ``prices``.

        Args:
            facts: Further fields of the model's entry.
        """
        prices = self.options.prices
        if prices is None:
            return {}
        read = prices.input if prices.cache_read is None else prices.cache_read
        write = prices.input if prices.cache_write is None else prices.cache_write
        entry = {
            "litellm_provider": self.provider_name() or "openai",
            "mode": "chat",
            "input_cost_per_token": prices.input / _MILLION,
            "output_cost_per_token": prices.output / _MILLION,
            "cache_read_input_token_cost": read / _MILLION,
            "cache_creation_input_token_cost": write / _MILLION,
            **facts,
        }
        return {self.model(): entry}
