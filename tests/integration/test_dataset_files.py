"""``pytest --codegenie dataset.toml``: a dataset that is run as it is."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from integration.sessions import AUTO_WORKSPACE
from integration.sessions import Project
from integration.sessions import assert_no_traceback
from integration.sessions import outcomes
from support_words import PLUGIN
from support_words import WordsDataset
from support_words import rows
from support_words import write_dataset_file
from support_words import write_rows

from pytest_codegenie.cli import main
from pytest_codegenie.evidence.past_runs import selected_groups


MENDS = "sed -i s/nothing/word-0/ word.txt"


class Words:
    """A project with ``data/dataset.toml``, whose cases are ``w-0``, ``w-1``, ..."""

    def __init__(self, project: Project) -> None:
        self.project = project
        project.settings('workspace = "host"')
        (project.path / "conftest.py").write_text(PLUGIN, "utf-8")
        self.data = project.path / "data"
        self.data.mkdir()
        self.rows = self.data / "rows.jsonl"
        self.file = self.data / "dataset.toml"
        self.have(*rows("w/0", "w/1", "w/2"))

    def have(self, *data: dict[str, Any], **table: Any) -> None:
        """Write the rows, and the dataset file for them."""
        write_rows(self.rows, *data)
        write_dataset_file(self.file, self.rows, **{"name": "words"} | table)

    def run(self, *arguments: str) -> pytest.RunResult:
        return self.project.run(*arguments)

    def collect(self, *arguments: str) -> list[str]:
        """Return the names of the items that are collected and not left out."""
        result = self.run("--collect-only", "-q", *arguments)
        assert result.ret == 0, result.stdout.str() + result.stderr.str()
        lines = [line for line in result.outlines if "dataset.toml::" in line]
        return [line.rpartition("::")[2] for line in lines]

    def refused(self, *lines: str, arguments: tuple[str, ...] = ("data",)) -> None:
        """See that nothing runs, the exit code is 6, and each line is said once."""
        result = self.run(*arguments)
        assert result.ret == 6, result.stdout.str()
        assert_no_traceback(result)
        for line in lines:
            said = [one for one in result.outlines if one.startswith(line)]
            assert len(said) == 1, (line, result.stdout.str())
        assert self.project.run_directories == []

    @property
    def written(self) -> set[str]:
        """The ids of the cases whose directories are there."""
        found = self.project.path.glob(".codegenie/cache/datasets/.*/words/cases/*/")
        return {path.name for path in found}


@pytest.fixture
def words(project: Project) -> Words:
    return Words(project)


# -- items -------------------------------------------------------------------------


def test_its_cases_are_items(words: Words) -> None:
    words.have(
        {"id": "w/0", "word": "a", "tags": ["odd"], "difficulty": "hard"},
        *rows("w/1", "w/2"),
    )
    result = words.run("--collect-only", "-q", "data")
    assert result.outlines[:3] == [
        f"data/dataset.toml::w-{number}[oracle]" for number in range(3)
    ]
    assert words.collect("-k", "words and odd", "-m", "hard") == ["w-0[oracle]"]
    trials = words.collect("--codegenie-trials=2", "data/dataset.toml::w-1[oracle-t2]")
    assert trials == ["w-1[oracle-t2]"]
    assert words.written == set()


def test_settings_select(words: Words) -> None:
    words.project.case("ant")
    assert words.collect("--codegenie-case=w-2") == ["w-2[oracle]"]
    assert words.collect("--codegenie-dataset=words", "--codegenie-limit=1") == [
        "w-0[oracle]"
    ]
    wrong = words.run("--codegenie-dataset=wods")
    assert wrong.ret == 4
    wrong.stderr.fnmatch_lines("*there is no dataset 'wods'*did you mean 'words'*")


def test_a_run_has_its_cases_as_those_of_a_bench(
    words: Words, plugin_args: list[str]
) -> None:
    words.project.case("ant")
    junit = words.project.path / "junit.xml"
    agent = words.project.shell_agent(f"{MENDS} || echo >> README.md", workspace="host")
    result = words.run(agent, f"--junit-xml={junit}", "-q", *plugin_args)
    assert result.ret == 1, result.stdout.str()
    assert outcomes(junit) == {
        "ant[shell]": "passed",
        "w-0[shell]": "passed",
        "w-1[shell]": "failure",
        "w-2[shell]": "failure",
    }
    record = words.project.only_run().record
    assert set(record.items) == {
        "bench/demo-task/cases/ant/case.toml::ant[shell]",
        *(f"data/dataset.toml::w-{number}[shell]" for number in range(3)),
    }
    names = ["demo-task/ant", "words/w-0", "words/w-1", "words/w-2"]
    assert sorted(record.case_digests) == names
    assert sorted(record.rubric_digests) == ["demo-task", "words"]
    results = words.project.only_run().results
    assert {one.case_digest for one in results} == set(record.case_digests.values())
    groups = {(key.task_class, n) for key, n in selected_groups(record).items()}
    assert groups == {("demo-task", 1), ("words", 3)}
    result.stdout.fnmatch_lines(["words [[]shell[]]", "*cases    1 of 3 passed"])
    reports = {path.name for path in words.project.only_run().directory.glob("re*-*")}
    assert reports == {"report-demo-task-shell.json", "report-words-shell.json"}
    assert words.written == {"w-0", "w-1", "w-2"}


def test_only_what_runs_is_written_and_the_source_is_read_once(words: Words) -> None:
    WordsDataset.drafted = 0
    assert words.run("data/dataset.toml::w-1").ret == 0
    assert words.written == {"w-1"}
    agent = words.project.shell_agent(MENDS, workspace="host")
    assert words.run(agent, "data", "-k", "not w-1").ret == 1
    assert words.written == {"w-0", "w-1", "w-2"}
    assert WordsDataset.drafted == 3
    assert words.collect(agent, "--lf", "data") == ["w-2[shell]"]


def test_what_the_dataset_file_says_is_done(words: Words) -> None:
    words.have(
        *rows("a/0", "b/0", "a/1", "a/2", "a/3"),
        select=["a/*"],
        exclude=["a-1"],
        limit=2,
        options={"hint": "Be quick.", "seconds": 7.0},
    )
    assert words.collect("data") == ["a-0[oracle]", "a-2[oracle]"]
    script = "cat {problem} > word.txt; echo word-0 >> word.txt"
    words.run(words.project.shell_agent(script, workspace="host"), "data", "-k", "a-0")
    (result,) = words.project.only_run().results
    assert result.output is not None
    assert "Be quick." in result.output.patch


def test_without_the_answers_of_the_dataset(words: Words) -> None:
    if AUTO_WORKSPACE != "sandbox":
        pytest.skip("no sandbox works here")
    script = f"cat {words.rows} .. > word.txt; grep -r word- {words.project.path}; ls"
    agent = words.project.shell_agent(
        f"{script} >> word.txt; echo word-0 >> word.txt",
        workspace="sandbox",
        sandbox={"readable": [str(words.project.path)]},
    )
    words.run(agent, "data", "-k", "w-0")
    (result,) = words.project.only_run().results
    assert result.outcome == "passed", result.message
    assert result.output is not None
    added = [
        line
        for line in result.output.patch.splitlines()
        if line.startswith("+") and not line.startswith("+++")
    ]
    assert added == ["+word.txt", "+word-0"]


# -- going on, judging again, checking ------------------------------------------------


def test_a_run_goes_on(words: Words) -> None:
    agent = words.project.shell_agent(f"{MENDS}; exit 0", workspace="host")
    assert words.run(agent, "data", "-x", "--codegenie-run-id=one").ret == 1
    done = {one.case_id for one in words.project.only_run().results}
    assert len(done) < 3
    shutil.rmtree(words.project.path / ".codegenie" / "cache")
    result = words.run(agent, "data", "--codegenie-resume=one", "-n2")
    assert result.ret == 1
    result.stdout.fnmatch_lines(f"*{len(done)} of 3 cases have a verdict on record*")
    standing = {o.case_id: o.outcome for o in words.project.only_run().results}
    assert standing == {"w-0": "passed", "w-1": "failed", "w-2": "failed"}
    assert words.written == {"w-0", "w-1", "w-2"} - done


def test_a_run_does_not_go_on_with_other_cases(words: Words) -> None:
    agent = words.project.shell_agent(MENDS, workspace="host")
    words.run(agent, "data", "-x", "--codegenie-run-id=one")
    words.have(*rows("w/0", "w/1"), {"id": "w/2", "word": "else"})
    result = words.run(agent, "data", "--codegenie-resume=one")
    assert result.ret == 4
    result.stdout.fnmatch_lines("*case words/w-2: recorded blake3:*, now blake3:*")


def test_patches_are_judged_again(words: Words) -> None:
    agent = words.project.shell_agent(MENDS, workspace="host")
    words.run(agent, "data", "--codegenie-run-id=one", "-k", "not w-1")
    shutil.rmtree(words.project.path / ".codegenie" / "cache")
    result = words.run("--codegenie-grade=one", "data")
    assert result.ret == 1
    result.stdout.fnmatch_lines("*cases    1 of 2 passed")


def test_a_second_run_takes_its_verdicts_from_the_cache(words: Words) -> None:
    assert words.run("data/dataset.toml::w-0").ret == 0
    result = words.run("data/dataset.toml::w-0", "-v")
    assert result.ret == 0
    result.stdout.fnmatch_lines("*::w-0[[]oracle[]] PASSED (cached)*")


def test_the_cases_are_validated(words: Words) -> None:
    words.have({"id": "w/0", "word": "nothing"}, *rows("w/1"))
    result = words.run("--codegenie-validate", "data", "-q")
    assert result.ret == 6
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines("data/dataset.toml: w-0: doing nothing passes it, *")


def test_a_dry_run_tells_the_plan(
    words: Words, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(words.project.path)
    assert main(["run", "data", "--dry-run"]) == 0, capfd.readouterr()
    lines = capfd.readouterr().out.splitlines()
    assert "cases         3, verified; 1 agent: 3 items" in lines
    assert "environments  none needed" in lines
    assert words.written == set()


# -- what does not hold -------------------------------------------------------------


def test_bad_instances_stop_the_run(words: Words) -> None:
    words.have(
        {"id": "w/0", "word": 7}, *rows("w/1"), {"id": "w/1", "word": "b"}, {"id": "x"}
    )
    words.refused(
        "rows.jsonl, line 1 (w/0): word: must be a word, got 7",
        "rows.jsonl, line 3 (w/1): instance_id: gives the case id 'w-1', as does "
        "rows.jsonl, line 2 (w/1); leave one of them out",
        "rows.jsonl, line 4 (x): word: must be a word, got None",
        arguments=("data", "-n2"),
    )


def test_a_source_that_changed_stops_the_run(words: Words) -> None:
    write_rows(words.rows, *rows("w/0"))
    words.refused(
        "data/dataset.toml: dataset.digest: data/rows.jsonl is not what was meant",
        # A node id is found all the same.
        arguments=("data/dataset.toml::w-1[oracle]",),
    )


def test_two_files_with_the_same_cases(words: Words) -> None:
    write_dataset_file(words.data / "b.dataset.toml", words.rows)
    words.refused(
        "data/dataset.toml: w-0: data/b.dataset.toml has a case of this id, too "
        "(and 2 more)"
    )
    write_dataset_file(words.data / "b.dataset.toml", words.rows, name="words")
    words.refused(
        "data/dataset.toml: dataset.name: data/b.dataset.toml has the name 'words', too"
    )


def test_a_case_or_task_class_of_a_bench_with_the_same_name(words: Words) -> None:
    words.project.case("W-1")
    words.refused(
        "data/dataset.toml: w-1: bench/demo-task/cases/W-1 has a case of this id, too",
        arguments=("bench", "data"),
    )
    words.have(*rows("x"), name="demo-task")
    for arguments in (("bench", "data"), ("data", "bench")):
        words.refused(
            "data/dataset.toml: dataset.name: bench/demo-task has the name",
            arguments=arguments,
        )


def test_a_file_that_is_called_otherwise(words: Words) -> None:
    other = words.file.rename(words.data / "words.toml")
    result = words.run(str(other))
    assert result.ret == 4
    result.stderr.fnmatch_lines(
        "ERROR: data/words.toml: is no case, and no dataset file by its name*"
        "name it 'words.dataset.toml'"
    )


def test_a_file_of_somebody_else_can_be_ignored(words: Words) -> None:
    (words.data / "other.dataset.toml").write_text("x = 1\n", "utf-8")
    words.refused("data/other.dataset.toml: x: unknown table")
    assert len(words.collect("data", "--ignore=data/other.dataset.toml")) == 3


def test_a_file_of_the_source_that_changes_during_the_run(words: Words) -> None:
    attachment = words.data / "attached"
    attachment.write_text("before", "utf-8")
    words.have(*rows("w/0", "w/1"), options={"attachment": "attached"})
    agent = words.project.shell_agent(
        f"{MENDS}; echo after > {attachment}", workspace="host"
    )
    result = words.run(agent, "data")
    assert result.ret == 6
    result.stdout.fnmatch_lines(
        "data/dataset.toml: w/1: data/attached: changed since the run began; run again"
    )
    (recorded,) = words.project.only_run().results
    assert recorded.outcome == "passed"


def test_a_file_outside_of_the_root_directory(
    words: Words, tmp_path_factory: pytest.TempPathFactory
) -> None:
    data = words.data.rename(tmp_path_factory.mktemp("elsewhere") / "data")
    (data / "conftest.py").write_text(PLUGIN, "utf-8")
    file = f"{data}/dataset.toml"
    result = words.run(f"--rootdir={words.project.path}", f"{file}::w-1", "-n1")
    assert result.ret == 0, result.stdout.str()
    record = words.project.only_run().record
    assert record.items == (f"{file}::w-1[oracle]",)
    assert list(record.case_digests) == ["words/w-1"]


def test_a_worker_that_dies_with_a_case(words: Words) -> None:
    script = "kill -9 $(ps -o ppid= -p $PPID) $PPID"
    agent = words.project.shell_agent(script, workspace="host")
    result = words.run(agent, "data", "-n1", "-k", "w-0", "--max-worker-restart=0")
    (recorded,) = words.project.only_run().results
    assert result.ret == 1
    assert (recorded.task_class, recorded.case_id) == ("words", "w-0")
    assert recorded.outcome == "error"


def test_the_benchmark_as_it_comes(project: Project) -> None:
    source = Path(__file__).parents[1] / "data/datasets/humaneval"
    rows_file = next(source.glob("*.jsonl.gz"))
    shutil.copy(rows_file, project.path)
    write_dataset_file(
        project.path / "humaneval.dataset.toml",
        project.path / rows_file.name,
        format="humaneval",
        select=["HumanEval/1[01]"],
    )
    result = project.run("humaneval.dataset.toml", "-q")
    assert result.ret == 0, result.stdout.str()
    result.assert_outcomes(passed=2)
