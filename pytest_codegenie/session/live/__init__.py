"""Where a run is: lines below pytest's own output, on a terminal, while cases run."""

from __future__ import annotations

from pytest_codegenie.session.live.display import LiveDisplay as LiveDisplay
from pytest_codegenie.session.live.display import draws_for as draws_for
