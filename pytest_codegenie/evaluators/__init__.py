"""What the tests say about a patch."""

from __future__ import annotations

from pytest_codegenie.evaluators.protocol import Evaluator as Evaluator
from pytest_codegenie.evaluators.protocol import Judgement as Judgement
from pytest_codegenie.evaluators.protocol import Verdict as Verdict
