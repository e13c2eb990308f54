"""The rubric, in a process of its own."""

from __future__ import annotations

from pytest_codegenie.scoring.isolation import score_case as score_case
from pytest_codegenie.scoring.protocol import Rubric as Rubric
from pytest_codegenie.scoring.rubric_network import rubric_isolation as rubric_isolation
