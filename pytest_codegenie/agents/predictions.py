"""The agent ``predictions``: patches that were made before, in SWE-bench's format."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_codegenie.agents.protocol import check_option_names
from pytest_codegenie.errors import AgentUnavailable
from pytest_codegenie.errors import relative
from pytest_codegenie.models import AgentOutput
from pytest_codegenie.models import EvalInstance


class PredictionsAgent:
    """Answers with the prediction of a file that has the case's ``instance_id``.

    Each is an object with ``instance_id``, ``model_name_or_path`` and ``model_patch``
    (a git diff; null or "" for no change): a line of a JSONL file, or, where the name
    ends in ``.json``, in a list, or in an object by id.
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
                "agent 'predictions': the option 'path' must name a JSONL file, or "
                "a .json; set it in the run file: options: {path: preds.jsonl}"
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
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        raise AgentUnavailable(f"{relative(path)} cannot be read: {exc}") from exc
    entries = _entries if path.suffix == ".json" else _lines
    for where, prediction in entries(text, relative(path)):
        place = f"{relative(path)}, {where}"
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


def _lines(text: str, name: str) -> Iterator[tuple[str, Any]]:
    """Yield (where, prediction) of each line."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield f"line {number}", _parsed(line, f"{name}, line {number}")


def _entries(text: str, name: str) -> Iterator[tuple[str, Any]]:
    """Yield (where, prediction) of a list, or of an object by id."""
    value = _parsed(text, name)
    if isinstance(value, list):
        for number, prediction in enumerate(value, 1):
            yield f"item {number}", prediction
        return
    if not isinstance(value, dict):
        raise AgentUnavailable(
            f"{name}: must be a list of predictions, or an object of them by id"
        )
    if isinstance(value.get("instance_id"), str):
        value = {value["instance_id"]: value}  # the only one
    for key, prediction in value.items():
        named = isinstance(prediction, dict)
        yield (
            f"key {key!r}",
            {"instance_id": key, **prediction} if named else prediction,
        )


def _parsed(text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise AgentUnavailable(f"{place}: not JSON: {exc}") from exc


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
