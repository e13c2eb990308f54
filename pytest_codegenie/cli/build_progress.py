"""What ``codegenie build`` shows of a build: lines, and on a terminal where it is."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from pytest_codegenie.errors import printable


#: Of a reason; all of it is in the log.
_SHOWN = 300


class BuildProgress:
    """Shows the events of a build, until the block ends.

    Args:
        retries: From a prompt's id to how many it may use.
        console: Where to.
    """

    def __init__(self, retries: Mapping[str, int], console: Console) -> None:
        self._retries = retries
        self._console = console
        self._now = ""
        self._phase = ""
        self._began = 0.0
        self._cost = 0.0
        self._live: Live | None = None
        if console.is_terminal:
            self._live = Live(
                self, console=console, transient=True, refresh_per_second=4
            )

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def __rich__(self) -> Text:
        """Return the line that says where the build is."""
        if not self._now:
            return Text("")
        minutes, seconds = divmod(int(time.monotonic() - self._began), 60)
        facts = f"{self._now}  {self._phase}  {minutes}:{seconds:02}"
        if self._cost:
            facts += f"  {self._cost:.4f} USD"
        return Text(facts, no_wrap=True, overflow="ellipsis", style="cyan")

    def watch(self, event_type: str, payload: Mapping[str, Any]) -> None:
        """Take an event."""
        handler = getattr(self, f"_on_{event_type.replace('.', '_')}", None)
        if handler is not None:
            handler(payload)

    def _say(self, text: str, style: str = "") -> None:
        line = Text(printable(text), style=style)
        self._console.print(line, soft_wrap=True)

    def _on_state_problem(self, payload: Mapping[str, Any]) -> None:
        self._say(payload["message"], "yellow")

    def _on_project_changed_by_hand(self, payload: Mapping[str, Any]) -> None:
        paths = ", ".join(payload["paths"][:5])
        self._say(f"changed by hand since the last build, and taken as it is: {paths}")

    def _on_project_kept(self, payload: Mapping[str, Any]) -> None:
        paths = ", ".join(payload["paths"][:5])
        self._say(
            f"changed by hand while a build was cut off: {paths}; kept in the build "
            f"history as {payload['ref']}",
            "yellow",
        )

    def _on_build_started(self, payload: Mapping[str, Any]) -> None:
        done = len(payload["completed"])
        self._say(f"{payload['prompts']} prompts, {done} complete")

    def _on_try_started(self, payload: Mapping[str, Any]) -> None:
        allowed = self._retries[payload["prompt"]] + 1
        self._now = (
            f"{printable(payload['title'])}  try {payload['number']} of {allowed}"
        )
        self._began = time.monotonic()
        if self._live is None:
            self._say(f"{payload['title']}: try {payload['number']} of {allowed}")

    def _on_try_phase(self, payload: Mapping[str, Any]) -> None:
        self._phase = payload["phase"]
        # A phase may be over before the line is drawn by itself.
        if self._live is not None:
            self._live.refresh()

    def _on_gates_run(self, payload: Mapping[str, Any]) -> None:
        self._phase = _figures(payload)

    def _on_try_failed(self, payload: Mapping[str, Any]) -> None:
        self._now = ""
        why = "broke a rule" if payload["breaks_rule"] else "failed"
        reason = " ".join(payload["reason"].split())
        if len(reason) > _SHOWN:
            reason = f"{reason[:_SHOWN]}..."
        self._say(f"{payload['title']}: try {payload['number']} {why}: {reason}", "red")

    def _on_prompt_completed(self, payload: Mapping[str, Any]) -> None:
        self._now = ""
        self._cost = payload["cost_usd"]
        seconds = time.monotonic() - self._began
        cost = f", {self._cost:.4f} USD by now" if self._cost else ""
        self._say(
            f"{payload['title']}: complete: {_figures(payload)}, {seconds:.0f} s{cost}",
            "green",
        )


def _figures(payload: Mapping[str, Any]) -> str:
    return f"coverage {payload['coverage']:g}%, pylint {payload['pylint_score']:g}"
