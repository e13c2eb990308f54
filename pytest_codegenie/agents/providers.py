"""Providers of models: where their servers are and which variables hold their keys.

For agents that serve several; one that knows its own provider says so itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_codegenie.models import NonNegative
from pytest_codegenie.models import Record


@dataclass(frozen=True, slots=True)
class Provider:
    """One provider of models."""

    url: str
    #: One of them has to be set.
    key_variables: tuple[str, ...]


class Prices(Record):
    """USD for a million tokens."""

    input: NonNegative
    output: NonNegative
    #: None: as ``input``.
    cache_read: NonNegative | None = None
    cache_write: NonNegative | None = None


PROVIDERS: Mapping[str, Provider] = {
    "anthropic": Provider("https://api.anthropic.com", ("ANTHROPIC_API_KEY",)),
    "deepseek": Provider("https://api.deepseek.com", ("DEEPSEEK_API_KEY",)),
    "gemini": Provider(
        "https://generativelanguage.googleapis.com",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    ),
    "google": Provider(
        "https://generativelanguage.googleapis.com",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    ),
    "groq": Provider("https://api.groq.com", ("GROQ_API_KEY",)),
    "mistral": Provider("https://api.mistral.ai", ("MISTRAL_API_KEY",)),
    "openai": Provider("https://api.openai.com", ("OPENAI_API_KEY",)),
    "openrouter": Provider("https://openrouter.ai", ("OPENROUTER_API_KEY",)),
    "xai": Provider("https://api.x.ai", ("XAI_API_KEY",)),
}
