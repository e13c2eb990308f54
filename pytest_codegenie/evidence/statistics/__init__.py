"""Statistics of scores: values in, frozen values out. SciPy is imported on use."""

from __future__ import annotations

from pytest_codegenie.evidence.statistics.bounds import Bound as Bound
from pytest_codegenie.evidence.statistics.bounds import lower_bound_95 as lower_bound_95
from pytest_codegenie.evidence.statistics.bounds import mean as mean
from pytest_codegenie.evidence.statistics.bounds import stddev as stddev
from pytest_codegenie.evidence.statistics.paired import Interval as Interval
from pytest_codegenie.evidence.statistics.paired import McNemar as McNemar
from pytest_codegenie.evidence.statistics.paired import mcnemar as mcnemar
from pytest_codegenie.evidence.statistics.paired import (
    paired_difference as paired_difference,
)
from pytest_codegenie.evidence.statistics.resampling import LEVEL as LEVEL
from pytest_codegenie.evidence.statistics.resampling import MIN_SAMPLE as MIN_SAMPLE
from pytest_codegenie.evidence.statistics.resampling import RESAMPLES as RESAMPLES
from pytest_codegenie.evidence.statistics.trials import AtK as AtK
from pytest_codegenie.evidence.statistics.trials import TrialFigures as TrialFigures
from pytest_codegenie.evidence.statistics.trials import pass_at_k as pass_at_k
from pytest_codegenie.evidence.statistics.trials import pass_hat_k as pass_hat_k
from pytest_codegenie.evidence.statistics.trials import trial_figures as trial_figures
