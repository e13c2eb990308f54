"""What an agent is told of a step, and of what was wrong with its last try."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

from pytest_codegenie.harness.foundry.project import Project
from pytest_codegenie.harness.foundry.records import Thresholds


#: Of what is told of a failed try, and of what it had handed in.
_MAX_CONTEXT = 12_000
_MAX_CODE = 12_000
_MAX_MESSAGES = 20


def thresholds_of(project: Project, prompt: Mapping[str, Any]) -> Thresholds:
    """Return what a prompt's code has to reach: its own figures, or the project's."""
    own = {key: prompt["metadata"].get(key) for key in ("coverage", "pylint")}
    told = {key: value for key, value in own.items() if value is not None}
    return project.harness.thresholds.model_copy(update=told)


def title_of(prompt: Mapping[str, Any]) -> str:
    """Return how a person knows a prompt: ``P-001: Parse a line``."""
    title = prompt["metadata"].get("title")
    return f"{prompt['id']}: {title}" if title else str(prompt["id"])


def write_instructions(
    project: Project, prompt: Mapping[str, Any], failure_context: str
) -> str:
    """Return all that an agent is told of a step.

    Args:
        project: The project.
        prompt: As ``PromptLoader`` returns it.
        failure_context: Of the last try; "": there was none.
    """
    parts = [
        f"You build a program step by step. This is step {title_of(prompt)} "
        f"(of {len(project.prompts)}). Do this step, and no later one.",
        "The working directory holds what the steps before it have made. What is "
        "built, and why so, is in design.md, spec.md and test-case.md.",
        f"# {title_of(prompt)}\n\n{prompt['content']}",
        "# Rules\n\n" + "\n".join(f"- {line}" for line in _rules(project, prompt)),
    ]
    if failure_context:
        parts.append(
            "# Your last try\n\nIt was not taken, and the files are as they were "
            f"before it. Do the step again, without this:\n\n{failure_context}"
        )
    return "\n\n".join(parts) + "\n"


def _rules(project: Project, prompt: Mapping[str, Any]) -> Iterator[str]:
    plane, wanted = project.rules.plane, thresholds_of(project, prompt)
    protected = f", but not {', '.join(plane.protected)}" if plane.protected else ""
    yield f"Change or make files only in {', '.join(plane.modifiable)}{protected}."
    yield "Delete and rename nothing. Make no links."
    yield f"Change {plane.max_files_changed} files at most."
    yield "Write tests in tests/. Modules are imported from src/."
    yield "All tests have to pass."
    yield f"The tests have to run {wanted.coverage:g}% of the lines of src/."
    yield f"Pylint has to give src/ {wanted.pylint:g} of 10."
    names = [
        gate if isinstance(gate, str) else gate.name for gate in project.harness.gates
    ]
    if names:
        yield f"These have to pass too: {', '.join(names)}."


def describe_gates(report: Mapping[str, Any]) -> str:
    """Return what the gates found, for the next try."""
    return "\n".join(_gate_lines(report))[:_MAX_CONTEXT]


def _gate_lines(report: Mapping[str, Any]) -> Iterator[str]:
    yield "The code did not pass:"
    yield from (f"- {reason}" for reason in report.get("reasons", ()))
    for failure in report.get("tests", {}).get("failures", ()):
        yield f"\nThe test {failure['test']} failed:\n{failure['message']}"
    uncovered = report.get("uncovered", {})
    if uncovered and any("coverage" in one for one in report.get("reasons", ())):
        yield "\nLines that no test runs:"
        yield from (f"- {path}: {_ranges(lines)}" for path, lines in uncovered.items())
    yield from _found("pylint", report.get("lint", ()))
    for name, outcome in report.get("gates", {}).items():
        yield from _found(name, outcome["findings"])


def _found(name: str, messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if messages:
        yield f"\n{name} says:"
    for one in messages[:_MAX_MESSAGES]:
        place = f"{one['path']}:{one.get('line', '')}: " if "path" in one else ""
        symbol = f" ({one['symbol']})" if one.get("symbol") else ""
        yield f"- {place}{one['message']}{symbol}"


def _ranges(lines: Sequence[int]) -> str:
    """Return line numbers in a few characters: ``3-5, 9``."""
    ranges: list[list[int]] = []
    for line in lines:
        if ranges and line == ranges[-1][1] + 1:
            ranges[-1][1] = line
        else:
            ranges.append([line, line])
    return ", ".join(f"{a}-{b}" if a != b else f"{a}" for a, b in ranges)


def with_code(context: str, code: str) -> str:
    """Return a failure's context with what was handed in, which is not there any more.

    A long text is left out: half of a diff helps nobody.
    """
    if not code.strip() or len(code) > _MAX_CODE:
        return context
    fence = "```"
    while fence in code:
        fence += "`"
    end = "" if code.endswith("\n") else "\n"
    return f"{context}\n\nThis was handed in:\n\n{fence}\n{code}{end}{fence}"
