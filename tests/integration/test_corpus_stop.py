"""A corpus that does not verify stops the session before any agent starts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from integration.sessions import Project
from integration.sessions import assert_no_traceback
from integration.sessions import node_id


def edit(project: Project, path: str, content: str | bytes | None) -> None:
    project.bench.write(project.bench.directory / path, content)


def sign_anew(project: Project, path: str, content: str) -> None:
    edit(project, path, content)
    project.bench.sign()


#: What is done to the bench, the exit code, and what is said of it.
FAULTS: dict[str, tuple[Callable[[Project], None], int, list[str]]] = {
    "edited": (
        lambda p: edit(p, "cases/broken/input/problem.md", "other words"),
        6,
        [
            "bench/demo-task/cases/broken: digest mismatch: *",
            "  expected blake3:*",
            "  computed blake3:*",
            "  differs  input/problem.md (changed)",
            "*codegenie sign bench/demo-task",
        ],
    ),
    "no-case-toml": (
        lambda p: edit(p, "cases/broken/case.toml", None),
        6,
        ["bench/demo-task/cases/broken: case.toml: missing*"],
    ),
    "unknown-key": (
        lambda p: edit(p, "cases/broken/case.toml", 'case_idd = "broken"\n'),
        6,
        ["bench/demo-task/cases/broken: *case_idd*"],
    ),
    "no-digests": (
        lambda p: edit(p, "cases/digests.yaml", None),
        6,
        ["bench/demo-task/cases: digests.yaml: missing; sign the cases: *"],
    ),
    "no-directory": (
        lambda p: edit(p, "cases/sound", None),
        6,
        ["bench/demo-task/cases/sound: digests.yaml: the entry 'sound' has no*"],
    ),
    "task": (
        lambda p: sign_anew(p, "cases/broken/input/task.toml", "harness = 3\n"),
        6,
        ["bench/demo-task/cases/broken: *input/task.toml*"],
    ),
    "registration-raises": (
        lambda p: edit(p, "registration.py", "raise RuntimeError('not today')\n"),
        9,
        ["task class 'demo-task' is incomplete: *registration.py: *not today*"],
    ),
    "no-taxonomy": (
        lambda p: edit(p, "failure_modes.yaml", None),
        9,
        ["task class 'demo-task' is incomplete: *failure_modes.yaml: missing*"],
    ),
}


@pytest.fixture
def bench(project: Project) -> Project:
    """A sound case, and one that the tests break."""
    project.case("broken")
    project.case("sound")
    return project


def run_with_marker(
    project: Project, tmp_path: Path, *arguments: str
) -> tuple[pytest.RunResult, Path]:
    """Run with an agent that leaves a file behind if it is ever started."""
    marker = tmp_path / "an-agent-was-started"
    agent = project.shell_agent(f"touch {marker}")
    return project.run(agent, *arguments), marker


@pytest.mark.parametrize("fault", FAULTS)
def test_the_fault_is_said_once_and_no_agent_starts(
    bench: Project, tmp_path: Path, fault: str
) -> None:
    spoil, exit_code, lines = FAULTS[fault]
    spoil(bench)
    result, marker = run_with_marker(bench, tmp_path)
    assert result.ret == exit_code
    result.stdout.fnmatch_lines(lines)
    result.assert_outcomes(errors=1)
    assert_no_traceback(result)
    assert not marker.exists()
    assert not bench.run_directories


@pytest.mark.parametrize("dist", ["load", "each"])
@pytest.mark.parametrize("fault", ["edited", "registration-raises"])
def test_it_is_the_same_under_xdist(
    bench: Project, tmp_path: Path, fault: str, dist: str
) -> None:
    spoil, exit_code, lines = FAULTS[fault]
    spoil(bench)
    result, marker = run_with_marker(bench, tmp_path, "-n2", f"--dist={dist}")
    assert result.ret == exit_code
    result.stdout.fnmatch_lines(lines)
    result.assert_outcomes(errors=1)
    assert_no_traceback(result)
    assert not marker.exists()
    assert not bench.run_directories


@pytest.mark.parametrize("fault", ["edited", "registration-raises", "no-digests"])
@pytest.mark.parametrize(
    "arguments",
    [
        [node_id("broken", "shell")],
        ["bench/demo-task/cases/broken/case.toml"],
        ["--continue-on-collection-errors"],
        ["--collect-only"],
        ["--maxfail=5"],
        ["-k", "sound"],
        ["-p", "no:terminal"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_no_way_of_asking_gets_round_it(
    bench: Project, tmp_path: Path, fault: str, arguments: list[str]
) -> None:
    spoil, exit_code, _ = FAULTS[fault]
    spoil(bench)
    result, marker = run_with_marker(bench, tmp_path, *arguments)
    assert result.ret == exit_code
    assert_no_traceback(result)
    assert not marker.exists()


def test_continuing_on_collection_errors_runs_nothing_under_xdist(
    bench: Project, tmp_path: Path
) -> None:
    FAULTS["edited"][0](bench)
    result, marker = run_with_marker(
        bench, tmp_path, "-n2", "--continue-on-collection-errors"
    )
    assert result.ret == 6
    result.assert_outcomes(errors=1)
    assert not marker.exists()


def test_all_faults_are_said_in_one_run(bench: Project) -> None:
    FAULTS["edited"][0](bench)
    edit(bench, "cases/sound/case.toml", "not toml")
    edit(bench, "cases/unsigned/case.toml", "")
    result = bench.run()
    assert result.ret == 6
    result.assert_outcomes(errors=3)
    result.stdout.fnmatch_lines(
        [
            "ERROR bench/demo-task/cases/broken*",
            "ERROR bench/demo-task/cases/sound*",
            "ERROR bench/demo-task/cases/unsigned*",
        ]
    )


def test_a_fault_of_a_task_class_decides_the_exit_code(bench: Project) -> None:
    FAULTS["edited"][0](bench)
    other = type(bench.bench)(bench.bench.root, "other-task")
    other.directory.joinpath("registration.py").write_text("")
    result = bench.run()
    assert result.ret == 9
    result.stdout.fnmatch_lines(
        ["*cases/broken: digest mismatch*", "*task class 'other-task' not found*"]
    )


def test_ids_must_differ_over_all_task_classes_of_a_session(
    bench: Project, plugin_args: list[str]
) -> None:
    other = type(bench.bench)(bench.bench.root, "other-task")
    other.case("Sound")
    result = bench.run(*plugin_args)
    assert result.ret == 6
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["*case id 'Sound' is used more than once: bench/demo-task/cases/sound, *"]
    )


def test_lf_goes_on_with_the_case_that_did_not_verify(bench: Project) -> None:
    problem = bench.bench.cases_dir / "broken/input/problem.md"
    words = problem.read_text()
    FAULTS["edited"][0](bench)
    bench.run()
    assert bench.run("--lf").ret == 6
    problem.write_text(words)
    result = bench.run("--lf")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["bench/demo-task/cases/broken/case.toml *"])
    assert bench.run("--lf").ret == 0


def test_junit_has_the_fault_as_an_error(bench: Project) -> None:
    FAULTS["edited"][0](bench)
    bench.run("--junitxml=out.xml")
    text = bench.path.joinpath("out.xml").read_text()
    assert 'errors="1"' in text
    assert "digest mismatch" in text
    assert "sound" not in text.partition("<testcase")[2].partition(">")[0]


SPOIL_AFTER_COLLECTION = """
def pytest_runtest_setup(item):
    # All processes have collected now, and the agent is not started yet.
    item.path.parent.joinpath("input/problem.md").write_text("other words")
"""


def test_a_case_that_changes_after_collection_is_not_run(
    bench: Project, plugin_args: list[str], tmp_path: Path
) -> None:
    bench.path.joinpath("conftest.py").write_text(SPOIL_AFTER_COLLECTION)
    result, marker = run_with_marker(bench, tmp_path, "-k", "broken", *plugin_args)
    assert result.ret == 6
    result.assert_outcomes(errors=1, deselected=0 if plugin_args else 1)
    result.stdout.fnmatch_lines(
        [
            "*ERROR at setup of broken*",
            "bench/demo-task/cases/broken: digest mismatch: *when the run began",
            "  expected blake3:*",
            "!*digest mismatch*!",
        ]
    )
    assert_no_traceback(result)
    assert not marker.exists()


def test_a_worker_notices_a_file_that_changed_after_the_controller_hashed_it(
    bench: Project, tmp_path: Path
) -> None:
    # A worker is started after the controller has hashed everything.
    bench.path.joinpath("conftest.py").write_text(
        "def pytest_configure_node(node):\n"
        "    case = node.config.rootpath / 'bench/demo-task/cases/broken'\n"
        "    case.joinpath('input/problem.md').write_text('other words')\n"
    )
    result, marker = run_with_marker(bench, tmp_path, "-n2")
    assert result.ret == 6
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*cases/broken: digest mismatch: *cases/digests.yaml"])
    assert not marker.exists()


def test_a_fault_that_one_worker_alone_sees_stops_all(
    bench: Project, tmp_path: Path
) -> None:
    bench.path.joinpath("conftest.py").write_text(
        "def pytest_configure(config):\n"
        "    worker = getattr(config, 'workerinput', {}).get('workerid')\n"
        "    if worker == 'gw1':\n"
        "        from pytest_codegenie.session import corpus\n"
        "        real = corpus.load_case\n"
        "        def load(directory, *arguments):\n"
        "            if directory.name == 'broken':\n"
        "                (directory / 'input/problem.md').write_text('other')\n"
        "            return real(directory, *arguments[:1])\n"
        "        corpus.load_case = load\n"
    )
    result, marker = run_with_marker(bench, tmp_path, "-n2")
    assert result.ret == 6
    assert_no_traceback(result)
    assert not marker.exists()
