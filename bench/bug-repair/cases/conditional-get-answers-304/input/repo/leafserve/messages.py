"""Requests and responses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field


class Headers(Mapping[str, str]):
    """Header fields; the case of their names does not matter."""

    def __init__(self, fields: Mapping[str, str] | None = None) -> None:
        self._fields = {
            name.lower(): (name, value) for name, value in (fields or {}).items()
        }

    def __getitem__(self, name: str) -> str:
        return self._fields[name.lower()][1]

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self._fields.values())

    def __len__(self) -> int:
        return len(self._fields)

    def __repr__(self) -> str:
        return f"Headers({dict(self)!r})"


@dataclass(frozen=True)
class Request:
    """A request; its headers may be given as any mapping."""

    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=Headers)

    def __post_init__(self) -> None:
        object.__setattr__(self, "headers", Headers(self.headers))


@dataclass(frozen=True)
class Response:
    """A response."""

    status: int
    headers: Headers = field(default_factory=Headers)
    body: bytes = b""
