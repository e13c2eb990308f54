"""The agent ``predictions``: patches that were made before, in SWE-bench's format."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_codegenie.agents.protocol import check_option_names
from pytest_codegenie.errors import AgentUnavailable
from pytest_codegenie.errors import relative
from pytest_codegenie.models import AgentOutput
from pytest_codegenie.models import EvalInstance


class PredictionsAgent:
    """Answers with the line of a JSONL file that has the case's ``instance_id``.

    Each line is an object with ``instance_id``, ``model_name_or_path`` and
    ``model_patch`` (a git diff; null or "" for no change).
    """

    name = "predictions"
    deterministic = True
    sees_answers = False

    def __init__(self) -> None:
        self._path = Path()

    def configure(self, options: Mapping[str, Any]) -> None:
        """Take ``path``, the file; relative to the working directory."""
        check_option_names(self.name, options, ("path",))
        path = options.get("path")
        if not isinstance(path, str) or not path:
            raise AgentUnavailable(
                "agent 'predictions': the option 'path' must name a JSONL file; set it "
                "in the run file: options: {path: preds.jsonl}"
            )
        self._path = Path(path).absolute()

    def version(self) -> str | None:
        """Return None: the file says which model it is of, line by line."""
        return None

    def get_answer_files(self) -> tuple[Path, ...]:
        """Return the file."""
        return (self._path,)

    def probe(self, environment: Mapping[str, str], *, shared: bool) -> str:
        """Return "" if the file can be read, or else why not; nothing else counts."""
        try:
            _read(self._path, _changed_at(self._path))
        except AgentUnavailable as exc:
            return f"agent 'predictions': {exc}"
        return ""

    def find_patch(self, instance: EvalInstance) -> AgentOutput:
        """Return the predicted patch."""
        predictions = _read(self._path, _changed_at(self._path))
        prediction = predictions.get(instance.instance_id)
        if prediction is None:
            raise AgentUnavailable(
                f"{relative(self._path)} has no prediction for "
                f"{instance.instance_id!r} ({len(predictions)} others)"
            )
        return AgentOutput(
            instance_id=instance.instance_id,
            agent_name=self.name,
            patch=prediction["model_patch"] or "",
            model_name=prediction.get("model_name_or_path"),
        )


def _changed_at(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError as exc:
        raise AgentUnavailable(
            f"{relative(path)} cannot be read: {exc.strerror}"
        ) from exc


@functools.lru_cache(maxsize=4)
def _read(path: Path, _changed_at: int) -> dict[str, dict[str, Any]]:
    predictions: dict[str, dict[str, Any]] = {}
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as exc:
        raise AgentUnavailable(f"{relative(path)} cannot be read: {exc}") from exc
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        place = f"{relative(path)}, line {number}"
        try:
            prediction = json.loads(line)
        except (ValueError, RecursionError) as exc:
            raise AgentUnavailable(f"{place}: not JSON: {exc}") from exc
        fault = _fault(prediction)
        if fault:
            raise AgentUnavailable(f"{place}: {fault}")
        if prediction["instance_id"] in predictions:
            raise AgentUnavailable(
                f"{place}: a second prediction for {prediction['instance_id']!r}; "
                "keep one"
            )
        predictions[prediction["instance_id"]] = prediction
    return predictions


def _fault(prediction: object) -> str:
    if not isinstance(prediction, dict):
        return "must be an object"
    for key in ("instance_id", "model_patch"):
        if key not in prediction:
            return f"{key!r} is missing"
    for key in ("instance_id", "model_patch", "model_name_or_path"):
        value = prediction.get(key)
        if value is None and key != "instance_id":
            continue
        if not isinstance(value, str):
            return f"{key!r} must be a string, got {value!r:.80}"
        if not value.isascii() and any("\ud800" <= one <= "\udfff" for one in value):
            return f"{key!r} holds half of a surrogate pair, which is no text"
    return ""
