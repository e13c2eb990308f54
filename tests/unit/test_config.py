"""One configuration from five places."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from typing import Protocol

import pytest

from pytest_codegenie.config import SINGULARS
from pytest_codegenie.config import Configuration
from pytest_codegenie.config import DatasetSpec
from pytest_codegenie.config import RequiredBound
from pytest_codegenie.config import RunConfig
from pytest_codegenie.config import load_config
from pytest_codegenie.config import load_configuration
from pytest_codegenie.config import show_configuration
from pytest_codegenie.errors import ConfigError
from pytest_codegenie.models import AgentSpec
from pytest_codegenie.models import DockerSettings
from pytest_codegenie.models import EvaluatorSettings
from pytest_codegenie.models import ResourceLimits
from pytest_codegenie.models import SandboxSettings


class Load(Protocol):
    """Load a configuration with files in the working directory."""

    def __call__(
        self,
        *,
        options: Mapping[str, Any] | None = None,
        environment: Mapping[str, str] | None = None,
        run_file: str | None = None,
        pyproject: str | None = None,
    ) -> RunConfig: ...


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    """Write the files that a test gives, and load."""
    monkeypatch.chdir(tmp_path)

    def load_from(
        *,
        options: Mapping[str, Any] | None = None,
        environment: Mapping[str, str] | None = None,
        run_file: str | None = None,
        pyproject: str | None = None,
    ) -> RunConfig:
        for name, text in (("run.yaml", run_file), ("pyproject.toml", pyproject)):
            if text is not None:
                (tmp_path / name).write_text(text, encoding="utf-8")
        return load_config(
            options=options or {},
            environment=environment or {},
            run_file=None if run_file is None else tmp_path / "run.yaml",
            pyproject=tmp_path / "pyproject.toml",
        )

    return load_from


def labels(config: RunConfig) -> Sequence[str]:
    return [f"{agent.name}:{agent.label}" for agent in config.agents]


def test_nothing_given_leaves_the_defaults_of_the_contract(load: Load) -> None:
    config = load()
    assert config == RunConfig()
    assert labels(config) == ["oracle:oracle"]
    assert (config.workspace, config.trials, config.timeout) == ("auto", 1, 600)
    assert (config.out, config.run_id, config.keep) == (
        Path(".codegenie"),
        None,
        "never",
    )


#: Key to four values as (command line, environment, run file, pyproject) write them,
#: and what each comes to.
PLACES: dict[str, tuple[tuple[Any, str, str, str], tuple[Any, ...]]] = {
    "workspace": (("a", "b", "c", '"d"'), ("a", "b", "c", "d")),
    "trials": ((2, "3", "4", "5"), (2, 3, 4, 5)),
    "timeout": ((1.5, "2.5", "3.5", "4"), (1.5, 2.5, 3.5, 4.0)),
    "timeout_margin": ((1, "2", "3", "4.5"), (1.0, 2.0, 3.0, 4.5)),
    "out": (("a", "b", "c", '"d"'), (Path("a"), Path("b"), Path("c"), Path("d"))),
    "run_id": (("a", "b", "c", '"d"'), ("a", "b", "c", "d")),
    "setup_timeout": ((1, "2", "3", "4.5"), (1.0, 2.0, 3.0, 4.5)),
    "limits": (
        ({"memory": "1k"}, "{memory: 2k}", "{memory: 3 kB}", "{memory = 4}"),
        tuple(ResourceLimits(memory=size) for size in (1024, 2048, 3072, 4)),
    ),
    "sandbox": (
        (
            {"readable": ["/a"]},
            "readable: [/b]",
            "{readable: [/c]}",
            '{readable = ["/d"]}',
        ),
        tuple(SandboxSettings(readable=(Path("/", path),)) for path in "abcd"),
    ),
    "docker": (
        ({"image": "a"}, '{"image": "b"}', "{image: c}", '{image = "d"}'),
        tuple(DockerSettings(image=image) for image in "abcd"),
    ),
    "datasets": (
        (
            [{"name": "a"}],
            "[{name: b, limit: 2}]",
            "[{name: c, split: held-out}]",
            '[{name = "d", instance_ids = ["x"]}]',
        ),
        (
            (DatasetSpec(name="a"),),
            (DatasetSpec(name="b", limit=2),),
            (DatasetSpec(name="c", split="held-out"),),
            (DatasetSpec(name="d", instance_ids=("x",)),),
        ),
    ),
    "cases": ((["a"], "[b]", "[c]", '["d"]'), (("a",), ("b",), ("c",), ("d",))),
    "limit": ((1, "2", "3", "4"), (1, 2, 3, 4)),
    "evaluator": (
        (
            {"timeout_seconds": 1},
            "{timeout_seconds: 2}",
            "{timeout_seconds: 3}",
            "{timeout_seconds = 4}",
        ),
        tuple(EvaluatorSettings(timeout_seconds=n) for n in (1, 2, 3, 4)),
    ),
    "workers": (("auto", "2", "logical", "0"), ("auto", 2, "logical", 0)),
    "require_lower_bound": (
        (["0.1", "a=0.2"], "0.3", "{b: 0.4, '*': 0.5}", '["c=0.6", 0.7]'),
        (
            (
                RequiredBound(at_least=0.1),
                RequiredBound(task_class="a", at_least=0.2),
            ),
            (RequiredBound(at_least=0.3),),
            (
                RequiredBound(task_class="b", at_least=0.4),
                RequiredBound(at_least=0.5),
            ),
            (
                RequiredBound(task_class="c", at_least=0.6),
                RequiredBound(at_least=0.7),
            ),
        ),
    ),
    # What a bare "off" is in YAML is "off" here.
    "cache": (("off", "refresh", "off", '"auto"'), ("off", "refresh", "off", "auto")),
    "max_cost_usd": ((0.5, "1.5", "2", "3.25"), (0.5, 1.5, 2.0, 3.25)),
    "baseline": (("a", "b", "c", '"d"'), ("a", "b", "c", "d")),
    "fail_on_regression": ((True, "no", "true", "false"), (True, False, True, False)),
    "reporters": ((["a"], "[b]", "[c]", '["d"]'), (("a",), ("b",), ("c",), ("d",))),
    "secrets": ((["A"], "[B]", "[C]", '["D"]'), (("A",), ("B",), ("C",), ("D",))),
    "log_level": (
        ("debug", "error", "warning", '"info"'),
        ("debug", "error", "warning", "info"),
    ),
    "keep": (
        ("always", "failed", "never", '"always"'),
        ("always", "failed", "never", "always"),
    ),
}


def test_every_setting_is_in_the_test_of_places() -> None:
    assert {*PLACES, "agents"} == set(RunConfig.model_fields)


@pytest.mark.parametrize("key", PLACES)
@pytest.mark.parametrize("first", range(4))
def test_an_earlier_place_wins_over_all_later_ones(
    load: Load, key: str, first: int
) -> None:
    (option, variable, in_file, in_table), expected = PLACES[key]
    config = load(
        options={key: option} if first == 0 else {key: None},
        environment={f"CODEGENIE_{key.upper()}": variable} if first <= 1 else {},
        run_file=f"{key}: {in_file}\n" if first <= 2 else "",
        pyproject=f"[tool.codegenie]\n{key.replace('_', '-')} = {in_table}\n",
    )
    assert getattr(config, key) == expected[first]


def test_places_fill_in_what_earlier_ones_leave_open(load: Load) -> None:
    config = load(
        options={"trials": 2, "keep": None},
        environment={"CODEGENIE_KEEP": "failed", "CODEGENIE_WORKSPACE": ""},
        run_file="workspace: sandbox\ntrials: 9\n",
        pyproject="[tool.codegenie]\ntimeout = 5\nkeep = 'always'\n",
    )
    assert (config.trials, config.keep, config.workspace, config.timeout) == (
        2,
        "failed",
        "sandbox",
        5,
    )


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"options": {"agent": ["nop", "oracle:gold"]}}, ["nop:nop", "oracle:gold"]),
        (
            {"environment": {"CODEGENIE_AGENT": "nop, oracle:gold"}},
            ["nop:nop", "oracle:gold"],
        ),
        ({"run_file": "agent: nop\n"}, ["nop:nop"]),
        ({"run_file": "agent: [nop, 'oracle:gold']\n"}, ["nop:nop", "oracle:gold"]),
        ({"run_file": "agents: [{name: nop}]\n"}, ["nop:nop"]),
        ({"pyproject": "[[tool.codegenie.agents]]\nname = 'nop'\n"}, ["nop:nop"]),
        ({"pyproject": "[tool.codegenie]\nagent = 'nop:x'\n"}, ["nop:x"]),
    ],
)
def test_agents_can_be_named_in_every_place(
    load: Load, given: dict[str, Any], expected: list[str]
) -> None:
    assert labels(load(**given)) == expected


def test_agents_are_taken_whole_from_the_first_place_that_names_any(load: Load) -> None:
    config = load(
        environment={"CODEGENIE_AGENT": "nop"},
        run_file="agents: [{name: oracle}, {name: command}]\n",
    )
    assert labels(config) == ["nop:nop"]


def test_naming_an_agent_selects_it_with_its_settings_from_a_later_place(
    load: Load,
) -> None:
    run_file = """\
agents:
  - name: command
    label: mine
    options: {command: [./agent]}
    env: {FLAG: "1"}
    timeout_seconds: 900
  - name: command
    label: other
"""
    config = load(options={"agent": ["command:mine", "nop"]}, run_file=run_file)
    assert config.agents == (
        AgentSpec(
            name="command",
            label="mine",
            options={"command": ["./agent"]},
            env={"FLAG": "1"},
            timeout_seconds=900,
        ),
        AgentSpec(name="nop", label="nop"),
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"options": {"trials": 0}},
            "command line: --codegenie-trials: Input should be greater than or equal "
            "to 1, got 0",
        ),
        (
            {"options": {"run_id": "a/b"}},
            "command line: --codegenie-run-id: must start with a letter or digit and "
            "hold only letters, digits, '.', '_' and '-', 64 at most, got 'a/b'",
        ),
        (
            {"options": {"keep": "some"}},
            "command line: --codegenie-keep: Input should be 'never', 'failed' or "
            "'always', got 'some'",
        ),
        (
            {"options": {"agent": [""]}},
            "command line: --codegenie-agent: must be NAME or NAME:label, got ''",
        ),
        (
            {"options": {"agent": ["nop", "nop"]}},
            "command line: --codegenie-agent: label 'nop' is used by two agents; give "
            "each its own: nop:another-label",
        ),
        (
            {"options": {"agent": ["nop:a b"]}},
            "must start with a letter or digit and hold only letters, digits, '.', '_' "
            "and '-', 64 at most, got 'a b'",
        ),
        (
            {"environment": {"CODEGENIE_TRIALS": "many"}},
            "environment: CODEGENIE_TRIALS: Input should be a valid integer, unable to "
            "parse string as an integer, got 'many'",
        ),
        (
            {"environment": {"CODEGENIE_TIMEOUT": "inf"}},
            "environment: CODEGENIE_TIMEOUT: Input should be a finite number, got "
            "'inf'",
        ),
        (
            {"environment": {"CODEGENIE_AGENT": "nop,,oracle"}},
            "environment: CODEGENIE_AGENT: must be NAME or NAME:label, got ''",
        ),
        (
            {"run_file": "trails: 3\n"},
            "run.yaml: trails: unknown key (did you mean 'trials'?); known: "
            + ", ".join(sorted((*RunConfig.model_fields, *SINGULARS))),
        ),
        ({"run_file": "1: 3\n"}, "run.yaml: 1: unknown key; known: agent, agents, "),
        ({"run_file": "- a\n"}, "run.yaml: must be a mapping of settings"),
        ({"run_file": "a: [\n"}, "run.yaml: not usable YAML: "),
        (
            {"run_file": "a: 1\na: 2\n"},
            "run.yaml: not usable YAML: key 'a' stands twice",
        ),
        (
            {"run_file": "agent: 5\n"},
            "run.yaml: agent: must be NAME or NAME:label, got 5",
        ),
        (
            {"run_file": "agent: {nop: 1}\n"},
            "run.yaml: agent: must be NAME or NAME:label, got {'nop': 1}",
        ),
        (
            {"run_file": "agent: nop\nagents: [{name: nop}]\n"},
            "run.yaml: agent: give either 'agent' or 'agents', not both",
        ),
        (
            {"run_file": "agents: []\n"},
            "run.yaml: agents: Tuple should have at least 1",
        ),
        (
            {"run_file": "agents: nop\n"},
            "run.yaml: agents: Input should be a valid tuple",
        ),
        (
            {"run_file": "agents: [nop]\n"},
            "run.yaml: agents.0: Input should be a valid",
        ),
        (
            {"run_file": "agents: [{name: nop, lable: x}]\n"},
            "run.yaml: agents.0.lable: unknown key (did you mean 'label'?)",
        ),
        (
            {"run_file": "agents: [{name: a, env: {A: 1}}]\n"},
            "run.yaml: agents.0.env.A: Input should be a valid string, got 1",
        ),
        (
            {"run_file": "agents: [{name: a, timeout_seconds: 0}]\n"},
            "run.yaml: agents.0.timeout_seconds: Input should be greater than 0, got 0",
        ),
        (
            {"run_file": "timeout:\n"},
            "run.yaml: timeout: Input should be a valid number, got None",
        ),
        (
            {"pyproject": "[tool.codegenie]\ntrails = 1\n"},
            "pyproject.toml: tool.codegenie.trails: unknown key (did you mean "
            "'trials'?); known: ",
        ),
        (
            {"pyproject": "[tool]\ncodegenie = 3\n"},
            "pyproject.toml: tool.codegenie: must be a table",
        ),
        (
            {"pyproject": "tool = 3\n"},
            "pyproject.toml: tool.codegenie: must be a table",
        ),
        ({"pyproject": "[tool"}, "pyproject.toml: not TOML: "),
        (
            {"run_file": "limits: {memroy: 4g}\n"},
            "run.yaml: limits.memroy: unknown key (did you mean 'memory'?); known: ",
        ),
        (
            {"run_file": "limits: {memory: lots}\n"},
            "run.yaml: limits.memory: Value error, must be a number of bytes, or one "
            "with k, m, g or t: 4g, got 'lots'",
        ),
        (
            {"environment": {"CODEGENIE_DOCKER": "debian"}},
            "environment: CODEGENIE_DOCKER: must be a table, such as {memory: 4g}, "
            "got 'debian'",
        ),
        (
            {"pyproject": "[tool.codegenie.limits]\nprocesses = 0\n"},
            "pyproject.toml: tool.codegenie.limits.processes: ",
        ),
        (
            {"environment": {"CODEGENIE_LIMITS__MEMROY": "4g"}},
            "environment: CODEGENIE_LIMITS__MEMROY: unknown key (did you mean "
            "'memory'?)",
        ),
        (
            {"environment": {"CODEGENIE_LIMITS": "{memroy: 4g}"}},
            "environment: CODEGENIE_LIMITS.memroy: unknown key (did you mean",
        ),
        (
            {"environment": {"CODEGENIE_LIMITS__PROCESSES": "few"}},
            "environment: CODEGENIE_LIMITS__PROCESSES: Input should be a valid integer",
        ),
        (
            {"run_file": "agents: [{name: a, timeout: 5}]\n"},
            "run.yaml: agents.0.timeout: unknown key (did you mean 'timeout_seconds'?)",
        ),
        (
            {"run_file": "datasets: [{name: a, spilt: held-out}]\n"},
            "run.yaml: datasets.0.spilt: unknown key (did you mean 'split'?); known: "
            "instance_ids, limit, name, split",
        ),
        (
            {"options": {"dataset": ["a:held-oot"]}},
            "command line: --codegenie-dataset: Input should be 'held-out' or "
            "'rag-corpus-derived', got 'held-oot' (did you mean 'held-out'?)",
        ),
        (
            {"environment": {"CODEGENIE_DATASET": "a,"}},
            "environment: CODEGENIE_DATASET: must be NAME or NAME:split, got ''",
        ),
        (
            {"run_file": "datasets: [{name: a, instance_ids: []}]\n"},
            "run.yaml: datasets.0.instance_ids: Tuple should have at least 1 item",
        ),
        (
            {"options": {"limit": "-1"}},
            "command line: --codegenie-limit: Input should be greater than or equal "
            "to 1, got '-1'",
        ),
        (
            {"run_file": "workers: many\n"},
            "run.yaml: workers: must be a number, 0 for none, 'auto' or 'logical', got "
            "'many'",
        ),
        (
            {"run_file": "workers: -1\n"},
            "run.yaml: workers: must be a number, 0 for none, 'auto' or 'logical', got "
            "-1",
        ),
        (
            {"run_file": "docker: {network: host}\n"},
            "run.yaml: docker.network: 'host' is this machine's own network, which no "
            "isolated agent gets; name one that was made for agents: docker network "
            "create agents, got 'host'",
        ),
        (
            {"run_file": "docker: {network: 'container:x'}\n"},
            "run.yaml: docker.network: must be 'none' or a name of the engine's: ",
        ),
        (
            {"options": {"require_lower_bound": ["0.5", "1.5"]}},
            "command line: --codegenie-require-lower-bound: must be X or TASK=X, where "
            "X is a number from 0 to 1 and TASK a task class, such as 0.8 or "
            "bug-repair=0.8, got '1.5'",
        ),
        ({"options": {"require_lower_bound": ["abc"]}}, "=0.8, got 'abc'"),
        ({"options": {"require_lower_bound": ["demo="]}}, "=0.8, got 'demo='"),
        ({"options": {"require_lower_bound": ["=0.5"]}}, "=0.8, got '=0.5'"),
        ({"options": {"require_lower_bound": ["nan"]}}, "=0.8, got 'nan'"),
        ({"options": {"require_lower_bound": ["{x}=1"]}}, "=0.8, got '{x}=1'"),
        (
            {"environment": {"CODEGENIE_REQUIRE_LOWER_BOUND": "{a_b: 0.5}"}},
            "environment: CODEGENIE_REQUIRE_LOWER_BOUND: must be X or TASK=X, where",
        ),
        (
            {"run_file": "require_lower_bound: true\n"},
            "run.yaml: require_lower_bound: must be X or TASK=X, where X is a number",
        ),
        (
            {"pyproject": "[tool.codegenie]\nrequire_lower_bound = ['a=1', 'a=0']\n"},
            "pyproject.toml: tool.codegenie.require_lower_bound: gives two bounds for "
            "a; leave one out",
        ),
        (
            {"run_file": "require_lower_bound: [0.5, '0.6']\n"},
            "require_lower_bound: gives two bounds for task classes without one of ",
        ),
        (
            {"run_file": "fail_on_regression: perhaps\n"},
            "run.yaml: fail_on_regression: Input should be a valid boolean",
        ),
        (
            {"run_file": "log_level: warn\n"},
            "run.yaml: log_level: Input should be 'debug', 'info', 'warning' or "
            "'error', got 'warn' (did you mean 'warning'?)",
        ),
        (
            {"run_file": "reporter: a\nreporters: [b]\n"},
            "run.yaml: reporter: give either 'reporter' or 'reporters', not both",
        ),
    ],
)
def test_a_wrong_setting_is_named_with_its_place_and_key(
    load: Load, given: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load(**given)
    assert str(caught.value).startswith(message) or message in str(caught.value)
    assert caught.value.exit_code == 4


def test_a_wrong_setting_is_found_though_an_earlier_place_covers_it(load: Load) -> None:
    with pytest.raises(ConfigError, match=r"^run.yaml: trials: .* got 0$"):
        load(options={"trials": 3}, run_file="trials: 0\n")


@pytest.mark.parametrize(
    "agent",
    [
        "{label: a, env: {API_KEY: s3cret}}",
        "{name: a, lable: b, env: {API_KEY: s3cret}}",
        "{name: [a], env: {API_KEY: s3cret}}",
    ],
)
def test_an_error_does_not_print_an_agents_environment(load: Load, agent: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(run_file=f"agents: [{agent}]\n")
    assert "s3cret" not in str(caught.value)
    assert "agents.0." in str(caught.value)


def test_a_run_file_that_is_missing_is_an_error_a_pyproject_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    gone = tmp_path / "gone.toml"
    config = load_config(options={}, environment={}, pyproject=gone)
    assert config == RunConfig()
    with pytest.raises(ConfigError) as caught:
        load_config(options={}, environment={}, run_file=tmp_path / "run.yaml")
    assert str(caught.value) == "run.yaml: missing"
    assert caught.value.args == ("run.yaml", "", "missing")


def test_variables_that_are_not_ours_are_left_alone(load: Load) -> None:
    environment = {"CODEGENIE_SOMETHING": "x", "CODEGENIE_AGENTS": "x", "TRIALS": "7"}
    assert load(environment=environment) == RunConfig()


def test_a_bare_name_selects_every_agent_of_that_name(tmp_path: Path) -> None:
    run_file = tmp_path / "run.yaml"
    run_file.write_text(
        "agents:\n"
        "  - {name: command, label: low, options: {command: [a]}}\n"
        "  - {name: command, label: high, options: {command: [b]}}\n"
        "  - {name: nop}\n",
        encoding="utf-8",
    )
    config = load_config(
        options={"agent": ["command"]}, environment={}, run_file=run_file
    )
    assert [agent.label for agent in config.agents] == ["low", "high"]
    assert all(agent.options for agent in config.agents)


# -- tables from several places ----------------------------------------------------


def test_a_table_is_filled_key_by_key_from_all_places(load: Load) -> None:
    config = load(
        environment={
            "CODEGENIE_LIMITS": "{cpus: 2, memory: 1g}",
            "CODEGENIE_LIMITS__MEMORY": "4g",
        },
        run_file="limits: {cpus: 3, processes: 5}\n",
        pyproject="[tool.codegenie.limits]\nprocesses = 6\nfiles = 7\n",
    )
    assert config.limits == ResourceLimits(memory=4 << 30, cpus=2, processes=5, files=7)


def test_a_nested_variable_takes_lists_as_yaml(load: Load) -> None:
    environment = {"CODEGENIE_SANDBOX__READABLE": "[/a, /b]"}
    assert load(environment=environment).sandbox.readable == (Path("/a"), Path("/b"))


@pytest.mark.parametrize("name", ["codegenie_trials", "CODEGENIE_trials", "TRIALS"])
def test_a_variable_is_spelled_in_capitals_with_the_prefix(
    load: Load, name: str
) -> None:
    assert load(environment={name: "7"}).trials == 1


@pytest.mark.parametrize(
    ("singular", "expected"),
    [
        ("case", ("x", "y")),
        ("reporter", ("x", "y")),
        ("dataset", (DatasetSpec(name="x"), DatasetSpec(name="y"))),
    ],
)
def test_a_singular_takes_one_name_or_several_in_every_place(
    load: Load, singular: str, expected: tuple[Any, ...]
) -> None:
    plural = f"{singular}s"
    places: list[dict[str, Any]] = [
        {"options": {singular: ["x", "y"]}},
        {"environment": {f"CODEGENIE_{singular.upper()}": "x, y"}},
        {"run_file": f"{singular}: [x, y]\n"},
        {"pyproject": f"[tool.codegenie]\n{singular} = ['x', 'y']\n"},
    ]
    for given in places:
        assert (
            getattr(load(**({"run_file": "", "pyproject": ""} | given)), plural)
            == expected
        )
    assert getattr(load(run_file=f"{singular}: x\n"), plural) == expected[:1]


DATASETS = """\
datasets:
  - {name: a, limit: 3}
  - {name: b, split: held-out, limit: 4}
  - {name: b, split: rag-corpus-derived}
"""


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        (["a"], [("a", None, 3)]),
        (["b"], [("b", "held-out", 4), ("b", "rag-corpus-derived", None)]),
        (["b:held-out", "c"], [("b", "held-out", 4), ("c", None, None)]),
        (["a:held-out"], [("a", "held-out", None)]),
        (["a", "a"], [("a", None, 3)]),
    ],
)
def test_naming_a_dataset_takes_the_settings_that_the_run_file_gives_it(
    load: Load, named: list[str], expected: list[tuple[str, str | None, int | None]]
) -> None:
    config = load(options={"dataset": named}, run_file=DATASETS)
    found = [(one.name, one.split, one.limit) for one in config.datasets]
    assert found == expected


# -- where values come from --------------------------------------------------------


def loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Configuration:
    monkeypatch.chdir(tmp_path)
    tmp_path.joinpath("run.yaml").write_text(
        "trials: 2\nlimits: {cpus: 1}\nkeep: failed\n"
        "agents: [{name: command, label: mine}, {name: nop}]\n"
    )
    tmp_path.joinpath("pyproject.toml").write_text(
        "[tool.codegenie]\ntrials = 3\ntimeout-margin = 5\nkeep = 'never'\n"
    )
    return load_configuration(
        options={"agent": ["command:mine", "oracle"], "log_level": "error"},
        environment={
            "CODEGENIE_LIMITS__MEMORY": "1g",
            "CODEGENIE_LIMITS": "{files: 9}",
            "CODEGENIE_KEEP": "always",
            "CODEGENIE_CASE": "x",
        },
        run_file=tmp_path / "run.yaml",
        pyproject=tmp_path / "pyproject.toml",
    )


def test_every_value_knows_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configuration = loaded(tmp_path, monkeypatch)
    places = {
        "trials": "run.yaml",
        "timeout_margin": "pyproject.toml",
        "keep": "environment: CODEGENIE_KEEP",
        "cases": "environment: CODEGENIE_CASE",
        "limits.memory": "environment: CODEGENIE_LIMITS__MEMORY",
        "limits.files": "environment: CODEGENIE_LIMITS",
        "limits.cpus": "run.yaml",
        "limits.disk": "default",
        "log_level": "command line: --codegenie-log-level",
        "agents.0": "run.yaml, chosen by command line: --codegenie-agent",
        "agents.1": "command line: --codegenie-agent",
        "workspace": "default",
        "datasets": "default",
    }
    assert {key: configuration.origin(key) for key in places} == places


def test_what_is_shown_is_a_run_file_that_comes_to_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configuration = loaded(tmp_path, monkeypatch)
    lines = list(show_configuration(configuration, {}))
    assert "trials: 2                                 # run.yaml" in lines
    assert "  cpus: 1.0                               # run.yaml" in lines
    shown = tmp_path / "shown.yaml"
    shown.write_text("\n".join(lines))
    again = load_config(options={}, environment={}, run_file=shown)
    assert again == configuration.settings


def test_no_secret_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_file = tmp_path / "run.yaml"
    run_file.write_text(
        "secrets: [PLAIN_NAME]\n"
        "agents:\n"
        "- name: command\n"
        "  env: {ANYTHING: canary-1, EMPTY: ''}\n"
        "  options:\n"
        "    api_key: canary-2\n"
        "    nested: [{password: pw3}]\n"
        "    command: [agent, --key, canary-four]\n"
        "    url: https://me:canary-five@example.org\n"
        "    max_tokens: 4096\n"
        "    api_key_variable: SOME_API_KEY\n",
        encoding="utf-8",
    )
    environment = {"SOME_API_KEY": "canary-four", "PLAIN_NAME": "canary-five"}
    configuration = load_configuration(
        options={}, environment=environment, run_file=run_file
    )
    text = "\n".join(show_configuration(configuration, environment))
    assert "canary" not in text
    assert "pw3" not in text
    assert "ANYTHING: (set), EMPTY: ''" in text
    assert "max_tokens: 4096, api_key_variable: SOME_API_KEY" in text
