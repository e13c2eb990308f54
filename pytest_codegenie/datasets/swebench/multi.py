"""Rows of Multi-SWE-bench, which are a pull request each, in classic terms."""

from __future__ import annotations

from typing import Any

from pytest_codegenie.datasets.reading.row import type_name
from pytest_codegenie.errors import DatasetError


def classic(place: str, data: dict[str, Any]) -> dict[str, Any]:
    """Return a row as SWE-bench would have it; others as they are.

    Args:
        place: Where a person finds it.
        data: ``org``, ``repo``, ``number``, ``base`` with ``sha``, ``fix_patch``,
            ``test_patch``, ``resolved_issues``, and an object of tests each in
            ``fixed_tests`` and ``p2p_tests``.

    Raises:
        DatasetError: A part of it is of another kind.
    """
    if not {"org", "number", "fix_patch"} <= set(data):
        return data
    org, number = data["org"], data["number"]
    base = data.get("base")
    if not isinstance(base, dict):
        raise DatasetError(place, "base", f"must be an object, is {type_name(base)}")
    return {
        **data,
        "instance_id": data.get("instance_id") or f"{org}__{data['repo']}-{number}",
        "repo": f"{org}/{data['repo']}",
        "base_commit": base.get("sha"),
        "patch": data["fix_patch"],
        "problem_statement": data.get("problem_statement") or _problem(place, data),
        "FAIL_TO_PASS": data.get("fixed_tests"),
        "PASS_TO_PASS": data.get("p2p_tests"),
        # Its own words for how hard it is, and for the state of the pull request.
        "difficulty": None,
    }


def _problem(place: str, data: dict[str, Any]) -> str:
    issues = data.get("resolved_issues")
    if not isinstance(issues, list) or not all(isinstance(one, dict) for one in issues):
        raise DatasetError(
            place,
            "resolved_issues",
            f"must be a list of objects, is {type_name(issues)}",
        )
    texts = (f"{one.get('title') or ''}\n\n{one.get('body') or ''}" for one in issues)
    return "\n\n".join(text.strip() for text in texts)
