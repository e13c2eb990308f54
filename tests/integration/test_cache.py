"""``--codegenie-cache`` and ``codegenie cache``: nothing known is done twice."""

from __future__ import annotations

import json
import os
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from integration.sessions import RIGHT_IF_MENDED
from integration.sessions import Project
from integration.sessions import outcomes
from integration.sessions import properties

from pytest_codegenie import load_run
from pytest_codegenie.cli.main import main
from pytest_codegenie.errors import relative
from pytest_codegenie.evidence import Run
from pytest_codegenie.evidence import open_run
from pytest_codegenie.evidence.cache import Cache
from pytest_codegenie.evidence.cache import CachedPatch
from pytest_codegenie.evidence.cache import CachedVerdict
from pytest_codegenie.models import AgentOutput
from pytest_codegenie.models import BenchScore
from pytest_codegenie.models import utc_now
from pytest_codegenie.parts import BUILTIN_PARTS
from pytest_codegenie.parts import make_part
from pytest_codegenie.reporters import Form
from pytest_codegenie.reporters import report_text
from pytest_codegenie.workspaces.sources.store import provide


#: Judges by a shell line that leaves a trace of each time that it runs.
TRACED = """\
framework = "command"
command = "echo x >> {trace}; grep -q 32 *.py"
"""
#: An agent that always gives the same answer, and leaves a trace of each question.
AGENT_MODULE = """\
from pathlib import Path

from pytest_codegenie.models import AgentOutput


class Steady:
    name = "steady"
    deterministic = True
    sees_answers = True

    def configure(self, options):
        self.options = options

    def version(self):
        return Path({version!r}).read_text()

    def find_patch(self, instance):
        with open({trace!r}, "a") as file:
            file.write("x")
        return AgentOutput(
            instance_id="", agent_name="", patch=instance.gold_patch, cost_usd=0.25
        )
"""
CONFTEST = """\
def pytest_codegenie_agents():
    return {"steady": "steady_agent:Steady"}
"""


class Traced:
    """A project whose agent and tests leave traces."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.agent_trace = project.path / "agent-trace"
        self.tests_trace = project.path / "tests-trace"
        self.version = project.path / "version"
        self.version.write_text("1", "utf-8")
        module = AGENT_MODULE.format(
            version=str(self.version), trace=str(self.agent_trace)
        )
        project.path.joinpath("steady_agent.py").write_text(module, "utf-8")
        project.path.joinpath("conftest.py").write_text(CONFTEST, "utf-8")
        for case_id in ("first", "second"):
            self.make_case(case_id)
        self.count = 0

    def make_case(self, case_id: str, **options: str) -> None:
        tests = {"expected/tests.toml": TRACED.format(trace=self.tests_trace)}
        self.project.case(case_id, files=tests, **options)

    def run(self, *arguments: str, **settings: object) -> tuple[int, int]:
        """Run all cases on the host; return how often agent and tests ran."""
        for trace in (self.agent_trace, self.tests_trace):
            trace.write_text("", "utf-8")
        agent: dict[str, object] = {"name": "steady"}
        if "options" in settings:
            agent["options"] = settings.pop("options")
        option = self.project.run_file(agents=[agent], **settings)
        self.count += 1
        result = self.project.run(
            option,
            *("--codegenie-workspace=host", f"--codegenie-run-id=run-{self.count}"),
            *(arguments or ("bench",)),
        )
        self.result = result
        return (
            len(self.agent_trace.read_text("utf-8")),
            len(self.tests_trace.read_text("utf-8").split()),
        )

    def kept(self, kind: str) -> list[Path]:
        """Return the entries of a kind."""
        place = self.project.path / ".codegenie" / "cache" / kind
        return sorted(path for path in place.rglob("*") if path.is_file())

    @property
    def last(self) -> Run:
        return load_run(self.project.path / ".codegenie" / "runs" / f"run-{self.count}")

    @property
    def origins(self) -> list[str]:
        return [one.provenance for one in self.last.results]


@pytest.fixture
def traced(project: Project, monkeypatch: pytest.MonkeyPatch) -> Traced:
    # For workers of xdist.
    monkeypatch.setenv("PYTHONPATH", str(project.path), prepend=os.pathsep)
    monkeypatch.syspath_prepend(project.path)
    return Traced(project)


def test_workers_share_the_cache_and_tell_of_broken_entries(traced: Traced) -> None:
    traced.run()
    for entry in traced.kept("patches"):
        entry.write_bytes(entry.read_bytes()[:100])
    traced.make_case("third")
    traced.run("-k", "third", "bench")
    assert traced.run("-n", "2", "-v", "bench") == (2, 2)
    traced.result.assert_outcomes(passed=3)
    text = traced.result.stdout.str()
    assert text.count("%] PASSED (cached) bench/") == 1
    assert text.count("%] PASSED bench/") == 2
    (line,) = [one for one in traced.result.outlines if one.startswith("cache: ")]
    assert re.fullmatch(
        r"cache: \.codegenie/cache/patches/\S+ is not what was written there; it was "
        r"left out \(and 1 more, in log\.jsonl\)",
        line,
    )
    log = (traced.last.directory / "log.jsonl").read_text("utf-8")
    assert log.count('"event_type": "cache.broken_entry"') == 2
    # They were replaced.
    assert traced.run() == (0, 0)
    assert "\ncache: " not in traced.result.stdout.str()


def test_a_hit_is_labelled_everywhere(traced: Traced) -> None:
    traced.make_case("third", disposition="ambiguous")
    traced.run()
    traced.run("-v", "--junitxml=warm.xml", "bench", "--codegenie-reporter=json")
    out = traced.result.stdout
    out.re_match_lines(
        [
            r".*::first\[steady\] PASSED \(cached\) .*",
            r".*::second\[steady\] PASSED \(cached\) .*",
            r".*::third\[steady\] XPASS \(cached\) .*",
            r"  origin   3 of 3 from the cache",
            r"  cost     0\.7500 USD as reported by the agent, 0\.7500 of it spent in "
            r"earlier",
            r"           runs; time .*",
        ]
    )
    xml = ET.parse(traced.project.path / "warm.xml").getroot()
    origins = [properties(case)["provenance"] for case in xml.iter("testcase")]
    assert origins == ["verdict-cache"] * 3
    report = json.loads((traced.last.directory / "report.json").read_bytes())
    assert report["figures"][0]["provenance"] == {"run": 0, "verdict-cache": 3}
    run = open_run(traced.last.directory)
    for name, reference in BUILTIN_PARTS.reporters.items():
        if name == "swebench-predictions":
            continue  # patches alone
        reporter = make_part("reporter", name, {name: reference})
        text = report_text(name, reporter, run, Form())
        assert "verdict-cache" in text or "3 of 3 from the cache" in text, name


def test_a_failing_item_says_that_it_is_cached(project: Project) -> None:
    project.case("first", files=RIGHT_IF_MENDED)
    for arguments in ([], ["-v"]):
        result = project.run("--codegenie-agent=nop", *arguments, "bench")
        result.assert_outcomes(failed=1)
    result.stdout.re_match_lines(
        [
            r".*::first\[nop\] FAILED \(cached\) .*",
            r"cached     patch and verdict; --codegenie-cache refresh runs it, with .*",
        ]
    )


def test_off_and_refresh_run_all_and_only_refresh_keeps_it(traced: Traced) -> None:
    assert traced.run("--codegenie-cache=off", "bench") == (2, 2)
    assert traced.kept("patches") == traced.kept("verdicts") == []
    assert traced.run("--codegenie-cache", "refresh", "bench") == (2, 2)
    made = [path.stat().st_ino for path in traced.kept("patches")]
    # As YAML has it, "off" is false.
    assert traced.run(cache=False) == (2, 2)
    assert [path.stat().st_ino for path in traced.kept("patches")] == made
    assert traced.run() == (0, 0)


def test_a_wrong_mode_is_a_usage_error(project: Project) -> None:
    project.case()
    result = project.run("--codegenie-cache=always", "bench")
    assert result.ret == 4
    result.stderr.re_match_lines(
        [r".*command line: --codegenie-cache: .*'auto', 'off' or 'refresh'.*"]
    )


def add_comment(traced: Traced) -> None:
    rubric = traced.project.bench.directory / "rubric.py"
    rubric.write_text(f"{rubric.read_text('utf-8')}\n# changed\n", "utf-8")


def new_version(traced: Traced) -> None:
    traced.version.write_text("2", "utf-8")


def rewrite_problem(traced: Traced) -> None:
    problem = traced.project.bench.cases_dir / "first" / "input" / "problem.md"
    problem.write_text("Do something else.\n", "utf-8")
    traced.project.bench.sign()


def new_canary(traced: Traced) -> None:
    file = traced.project.bench.cases_dir / "first" / "case.toml"
    text = file.read_text("utf-8")
    pin = re.sub(r'(cassette_canary_pin = )"\w+"', rf'\1"{"e" * 32}"', text)
    assert pin != text
    file.write_text(pin, "utf-8")


def test_what_changed_is_done_again_and_no_more(traced: Traced) -> None:
    assert traced.run() == (2, 2)
    assert traced.origins == ["run", "run"]
    assert traced.run() == (0, 0)
    assert traced.origins == ["verdict-cache", "verdict-cache"]
    assert {one.run_id for one in traced.last.results} == {"run-2"}
    assert all(set(one.timings) == {"cache"} for one in traced.last.results)
    add_comment(traced)
    assert traced.run() == (0, 2)
    assert traced.origins == ["patch-cache", "patch-cache"]
    for change in (rewrite_problem, new_canary):
        change(traced)
        assert traced.run() == (1, 1)
        assert traced.origins == ["run", "verdict-cache"]
    new_version(traced)
    assert traced.run() == (2, 2)
    assert traced.run(options={"effort": "high"}) == (2, 2)
    # Of two trials the first is known, and so is the second then.
    assert traced.run(trials=2) == (2, 2)
    assert traced.origins == ["verdict-cache", "run"] * 2
    assert traced.run(trials=2, log_level="debug", keep="failed") == (0, 0)
    assert {one.outcome for one in traced.last.results} == {"passed"}


def test_a_changed_prediction_is_handed_in(project: Project) -> None:
    project.case("first", files=RIGHT_IF_MENDED)
    gold = project.bench.cases_dir / "first" / "expected" / "gold.patch"
    agent = {"name": "predictions", "options": {"path": "preds.jsonl"}}
    option = project.run_file(agents=[agent])
    for patch, outcome in ((gold.read_text("utf-8"), "passed"), ("", "failed")):
        line = {"instance_id": "first", "model_patch": patch}
        project.path.joinpath("preds.jsonl").write_text(json.dumps(line), "utf-8")
        project.run(option, "bench").assert_outcomes(**{outcome: 1})
    project.run(option, "bench").assert_outcomes(failed=1)
    runs = [load_run(path) for path in project.run_directories]
    assert sorted(one.provenance for run in runs for one in run.results) == [
        *("run", "run", "verdict-cache"),
    ]


def test_a_cache_that_cannot_be_written_is_said_and_done_without(
    traced: Traced,
) -> None:
    place = traced.project.path / ".codegenie" / "cache"
    place.mkdir(parents=True)
    for name in ("patches", "verdicts"):
        (place / name).write_text("a file", "utf-8")
    assert traced.run() == (2, 2)
    traced.result.assert_outcomes(passed=2)
    traced.result.stdout.re_match_lines(
        [r"cache: \S+ cannot be (read|written) \(.*\).*"]
    )


def test_validation_never_looks_anything_up(traced: Traced) -> None:
    traced.run("--codegenie-agent=oracle", "bench")
    before = traced.kept("patches")
    traced.tests_trace.write_text("", "utf-8")
    place = "bench/demo-task/cases/first"
    traced.project.run("--codegenie-validate", "--codegenie-workspace=host", place)
    # Three times oracle, three times nop.
    assert len(traced.tests_trace.read_text("utf-8").split()) == 6
    assert traced.kept("patches") == before


# -- the command -----------------------------------------------------------------------


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with two patches and two verdicts; the commands look there."""
    monkeypatch.chdir(tmp_path)
    place = tmp_path / ".codegenie" / "cache"
    cache = Cache(place)
    now = utc_now()
    output = AgentOutput(instance_id="x", agent_name="x", patch="x")
    for digit in "12":
        key = f"blake3:{digit * 64}"
        cache.keep_patch(key, CachedPatch(run_id="r", made_at=now, output=output))
        verdict = CachedVerdict(
            run_id="r",
            made_at=now,
            outcome="passed",
            score=BenchScore(passed=True, score=1.0),
            evaluation=None,
            message="",
        )
        cache.keep_verdict(key, verdict)
    return place


def files(place: Path) -> list[Path]:
    return [path for path in place.rglob("*") if path.is_file()]


def test_info_counts_entries_and_bytes(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cache", "info", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["directory"] == str(store)
    for one in shown["kinds"]:
        assert one["entries"] == 2
        sizes = [path.stat().st_size for path in files(store / one["kind"])]
        assert one["bytes"] == sum(sizes)
    assert main(["cache", "info"]) == 0
    assert re.fullmatch(
        r"\.codegenie/cache\n"
        r"patches   2 entries, \d+ bytes; least recently used 20\S+\n"
        r"verdicts  2 entries, \d+ bytes; least recently used 20\S+\n",
        capsys.readouterr().out,
    )
    assert main(["cache", "info", "--out", "elsewhere"]) == 0
    assert "patches   0 entries, 0 bytes\n" in capsys.readouterr().out


def test_gc_removes_what_was_left_longest(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def gc(*arguments: str) -> str:
        assert main(["cache", "gc", *arguments]) == 0
        return capsys.readouterr().out

    assert gc().startswith("removed 0 patches and 0 verdicts, 0 bytes; ")
    for path in files(store / "patches"):
        os.utime(path, (1e9, 1e9))
    said = gc("--older-than", "52w", "--dry-run")
    assert said.startswith("would remove 2 patches and 0 verdicts, ")
    assert said.endswith(" would remain\n")
    assert len(files(store)) == 4
    # Without an option: what nobody used for 30 days.
    assert gc().startswith("removed 2 patches and 0 verdicts, ")
    assert files(store / "patches") == []
    verdicts = files(store / "verdicts")
    size = verdicts[0].stat().st_size
    assert gc("--max-bytes", str(size)).startswith("removed 0 patches and 1 verdict, ")
    said = gc("--max-bytes", "0")
    assert said.startswith("removed 0 patches and 1 verdict, ")
    assert said.endswith("; 0 bytes remain\n")
    assert files(store) == []


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--older-than", "soon"], "'soon' is no age: write a number with s, m, h, d"),
        (["--older-than", f"{'9' * 400}d"], "is longer than anything is kept"),
        (["--max-bytes", "2x"], "'2x' is no size: write a number of bytes"),
        (["--max-bytes=-1"], "'-1' is no size"),
    ],
)
def test_gc_refuses_what_it_does_not_understand(
    arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["cache", "gc", *arguments])
    assert ended.value.code == 4
    assert reason in " ".join(capsys.readouterr().err.split())


def test_junit_of_a_warm_run_has_the_outcomes_of_the_cold_one(project: Project) -> None:
    project.three_outcomes()
    found = []
    for name in ("cold.xml", "warm.xml"):
        project.run(f"--junitxml={name}", "bench").assert_outcomes(
            passed=1, failed=1, errors=1
        )
        found.append(outcomes(project.path / name))
    assert found[0] == found[1]
    origins = [
        sorted(one.provenance for one in load_run(path).results)
        for path in project.run_directories
    ]
    # An error is run again each time.
    assert sorted(origins) == [
        ["run", "run", "run"],
        ["run", "verdict-cache", "verdict-cache"],
    ]


def test_fetched_code_is_listed_and_removed_too(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = (place_source(store, name) for name in ("git-old", "git-new"))
    os.utime(old / "source.json", (1e9, 1e9))
    assert main(["cache", "info"]) == 0
    said = capsys.readouterr().out
    assert re.search(r"^sources   2 entries, 6 bytes; .* used 2001-", said, re.M)
    assert main(["cache", "gc"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("removed 0 patches, 0 verdicts and 1 source, 3 bytes; ")
    assert (old.exists(), new.exists()) == (False, True)
    assert main(["clean", "--environments", "--dry-run"]) == 0
    assert "sources" not in capsys.readouterr().out
    assert main(["clean", "--sources"]) == 0
    assert f"removed {relative(store)}/sources\n" in capsys.readouterr().out
    assert not new.exists()


def place_source(cache: Path, key: str) -> Path:
    """Keep code of three bytes; return its place."""

    class Code:
        shown = key

        def __init__(self) -> None:
            self.key = key

        def fetch(self, directory: Path, seconds: float) -> Path:
            (directory / "tree").mkdir()
            (directory / "tree" / "a.txt").write_bytes(b"abc")
            return directory / "tree"

    return provide(Code(), cache, 1).parent
