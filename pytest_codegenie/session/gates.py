"""The gates of a session: read before any agent starts, judged when all is done."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_codegenie.config import Configuration
from pytest_codegenie.errors import CodegenieError
from pytest_codegenie.errors import ConfigError
from pytest_codegenie.errors import printable
from pytest_codegenie.evidence import Group
from pytest_codegenie.evidence import StoredRun
from pytest_codegenie.evidence import find_run
from pytest_codegenie.evidence import open_run
from pytest_codegenie.evidence.gates import GateVerdict
from pytest_codegenie.evidence.gates import all_met
from pytest_codegenie.evidence.gates import judge_bounds
from pytest_codegenie.evidence.gates import judge_regressions
from pytest_codegenie.evidence.pairing import GroupKey
from pytest_codegenie.evidence.pairing import RunComparison
from pytest_codegenie.evidence.pairing import RunGroups
from pytest_codegenie.evidence.pairing import compare_runs
from pytest_codegenie.evidence.pairing import read_groups
from pytest_codegenie.evidence.past_runs import selected_groups
from pytest_codegenie.evidence.statistics.resampling import NEEDS_SCIPY
from pytest_codegenie.reporters.comparison import LISTED
from pytest_codegenie.reporters.comparison import comparison_lines
from pytest_codegenie.reporters.comparison import wrapped


class Gates:
    """What is required of a run, the run that it is compared with, and the verdicts.

    Args:
        configuration: What holds for the run.
        run_id: Of the run that begins, or is gone on with.

    Raises:
        ConfigError: A gate could not be told whatever the run comes to.
    """

    def __init__(self, configuration: Configuration, run_id: str) -> None:
        settings = configuration.settings
        self._configuration = configuration
        self._required = settings.require_lower_bound
        self._fails_on_regression = settings.fail_on_regression
        self._labels = [agent.label for agent in settings.agents]
        if self._required and importlib.util.find_spec("scipy") is None:
            raise self._fault("require_lower_bound", NEEDS_SCIPY)
        if self._fails_on_regression and settings.baseline is None:
            raise self._fault(
                "fail_on_regression",
                "needs a run to compare with: name it with --codegenie-baseline RUN",
            )
        self._baseline: RunGroups | None = None
        self._shortfall = ""
        if settings.baseline is not None:
            self._read_baseline(settings.baseline, settings.out, run_id)
        self._compared: RunComparison | None = None
        self._problem = ""
        self.verdicts: list[GateVerdict] = []

    def _fault(self, key: str, reason: str) -> ConfigError:
        source = self._configuration.origin(key)
        # Of the command line, and of the environment, it names the key.
        return ConfigError(source, "" if ": " in source else key, reason)

    def _read_baseline(self, name: str, out: Path, run_id: str) -> None:
        try:
            directory = find_run(name, lambda: out)
            if directory.resolve() == (out / "runs" / run_id).resolve():
                reason = f"{name!r} is the run itself; name another"
                raise self._fault("baseline", reason)
            run = open_run(directory)
            self._shortfall = run.overview().shortfall
            self._baseline = read_groups(run)
        except ConfigError:
            raise
        except CodegenieError as exc:
            raise self._fault("baseline", str(exc)) from exc
        if not self._baseline.groups:
            raise self._fault("baseline", f"no case of run {name!r} has a result")

    @property
    def bounds(self) -> bool:
        """Whether lower bounds stand in for passing every case."""
        return bool(self._required)

    @property
    def met(self) -> bool | None:
        """Whether all gates are met; None: there is none."""
        if not self._required and not self._fails_on_regression:
            return None
        return bool(self.verdicts) and all_met(self.verdicts)

    def description(self) -> Iterator[str]:
        """Yield a line for each gate, and for the baseline."""
        for one in self._required:
            of = one.task_class or "every other task class"
            of = of if len(self._required) > 1 or one.task_class else "each task class"
            yield f"lower bound of at least {one.at_least:g} for {of}"
        if self._baseline is not None:
            run = printable(self._baseline.run_id)
            is_gate = self._fails_on_regression
            yield f"{'no regression since' if is_gate else 'compared with'} run {run}"

    def check_selected(
        self, case_digests: Mapping[str, str], rubric_digests: Mapping[str, str]
    ) -> None:
        """Refuse a baseline that no selected case can be compared with.

        Args:
            case_digests: ``<task class>/<case id>`` to digest, of what is to run.
            rubric_digests: Task class to digest.

        Raises:
            ConfigError: There is nothing in common, whatever the run comes to.
        """
        if self._baseline is None or not case_digests:
            return
        classes = {name.partition("/")[0] for name in case_digests}
        selected = {GroupKey(name, label) for name in classes for label in self._labels}
        common = selected & self._baseline.groups.keys()
        if not common:
            raise self._fault(
                "baseline",
                f"run {self._baseline.run_id} cannot be compared with what is "
                f"selected: it has {_named(self._baseline.groups)}, and selected is "
                f"{_named(selected)}; name a run of the same agent",
            )
        if not any(
            _is_of(result, case_digests, rubric_digests)
            for key in common
            for result in self._baseline.groups[key]
        ):
            raise self._fault(
                "baseline",
                f"run {self._baseline.run_id} cannot be compared with what is "
                "selected: it judged none of these cases, or their digests or their "
                "rubric's have changed since; run the baseline again",
            )

    def judge(self, run: StoredRun, groups: Sequence[Group], unfinished: str) -> None:
        """Judge what the run came to.

        Args:
            run: The run, all its results written.
            groups: The figures of those.
            unfinished: Why the run is not whole; "" where it is.
        """
        # An agent of which every case was skipped has shown nothing.
        found = {GroupKey(group.task_class, group.agent) for group in groups}
        absent = sorted(selected_groups(run.record).keys() - found)
        every = [*groups, *(Group(*key) for key in absent)]
        self.verdicts += judge_bounds(self._required, every, unfinished)
        if self._baseline is None:
            return
        try:
            compared = compare_runs(self._baseline, read_groups(run))
        except CodegenieError as exc:
            self._problem = f"not compared with the baseline: {exc}"
            return
        if self._fails_on_regression:
            self.verdicts += judge_regressions(compared, unfinished)
        if groups:
            self._compared = compared

    def suite_properties(self) -> Iterator[tuple[str, object]]:
        """Yield JUnit properties: a verdict for each gate, and the comparison."""
        for verdict in self.verdicts:
            parts = (verdict.kind, verdict.task_class, verdict.agent)
            name = ".".join(("codegenie.gate", *filter(None, parts)))
            yield name, f"{verdict.word}: {verdict.text}"
        if self._compared is None:
            return
        yield "codegenie.baseline", self._compared.before.run_id
        for one in self._compared.comparisons:
            name = f"codegenie.baseline.{one.task_class}.{one.after.agent}"
            values = {
                "cases": one.cases,
                "regressed": len(one.regressed),
                "improved": len(one.improved),
                "flipped": len(one.flipped),
                "not_compared": len(one.not_compared),
                "difference": one.difference.value,
                "difference_low": one.difference.low,
                "difference_high": one.difference.high,
                "mcnemar_p": one.mcnemar.p_value,
            }
            # What is not known is left out.
            yield from ((f"{name}.{k}", v) for k, v in values.items() if v is not None)

    def show(self, terminal: Any) -> None:
        """Write the comparison and a line for each gate to pytest's terminal."""
        if self._problem:
            terminal.write_line(self._problem)
        if self._compared is not None:
            for line in self._comparison(self._compared):
                terminal.write_line(line)
        for verdict in self.verdicts:
            colour = {"green": True} if verdict.met else {"red": True}
            for line in wrapped(str(verdict), indent=2):
                terminal.write_line(line, **colour)

    def _comparison(self, compared: RunComparison) -> Iterator[str]:
        yield f"compared with run {printable(compared.before.run_id)}"
        if self._shortfall:
            yield from wrapped(f"  {printable(self._shortfall)}", indent=2)
        if not compared.comparisons:
            yield from wrapped(f"  nothing: {compared.why_nothing}", indent=2)
        for one in compared.comparisons:
            yield from comparison_lines(one, LISTED)
        for alone in compared.unpaired:
            yield f"only {alone.side}: {printable(str(alone))}"


def _named(keys: Iterable[GroupKey]) -> str:
    return ", ".join(printable(str(key)) for key in sorted(keys))


def _is_of(
    result: Mapping[str, Any],
    case_digests: Mapping[str, str],
    rubric_digests: Mapping[str, str],
) -> bool:
    """Tell whether a result is of what is selected, as it is now, and was judged."""
    task_class = result["task_class"]
    case_digest = case_digests.get(f"{task_class}/{result['case_id']}")
    return bool(
        result["case_digest"] == case_digest
        and result["rubric_digest"] == rubric_digests.get(task_class)
        and result["outcome"] != "error"
        and result["disposition"] != "ambiguous"
    )
