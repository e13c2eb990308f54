"""Rows of SWE-bench and its look-alikes, as drafts of cases."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from support import Bench
from support_datasets import SHARED_DATA
from support_datasets import drafts
from support_datasets import place_drafts

from pytest_codegenie.corpus import read_task
from pytest_codegenie.datasets import CaseDraft
from pytest_codegenie.datasets.swebench import SwebenchDataset
from pytest_codegenie.errors import DatasetError


DATA = Path(__file__).parents[2] / "data" / "datasets" / "swebench-from-sdists"
ROWS = SHARED_DATA / "swebench_instances.jsonl"
GOLD = """\
diff --git a/lib.py b/lib.py
--- a/lib.py
+++ b/lib.py
@@ -1,2 +1,2 @@
 def half(number):
-    return number / 3
+    return number / 2
"""
TEST_PATCH = """\
diff --git a/tests/data.json b/tests/data.json
new file mode 100644
--- /dev/null
+++ b/tests/data.json
@@ -0,0 +1 @@
+{}
diff --git a/tests/test_lib.py b/tests/test_lib.py
--- a/tests/test_lib.py
+++ b/tests/test_lib.py
@@ -1,2 +1,3 @@
 def test_old():
-    pass
+    import lib
+    assert lib.half(4) == 2
"""


def row(**changed: Any) -> dict[str, Any]:
    """Return a row; a key that is changed to None is left out."""
    classic = {
        "repo": "acme/lib",
        "instance_id": "acme__lib-1",
        "base_commit": "a" * 40,
        "patch": GOLD,
        "test_patch": TEST_PATCH,
        "problem_statement": "half is wrong",
        "hints_text": "",
        "created_at": "2026-11-22T12:00:00Z",
        "version": "1.0",
        "FAIL_TO_PASS": '["tests/test_lib.py::test_new"]',
        "PASS_TO_PASS": '["tests/test_lib.py::test_old"]',
        "environment_setup_commit": "b" * 40,
        "log_parser": "parse_log_pytest",
    }
    return {
        key: value for key, value in (classic | changed).items() if value is not None
    }


def draft_of(tmp_path: Path, data: Mapping[str, Any], **options: Any) -> CaseDraft:
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(data) + "\n", encoding="utf-8")
    (draft,) = drafts(SwebenchDataset(), path, **options)
    return draft


def fault_of(tmp_path: Path, data: Mapping[str, Any], **options: Any) -> str:
    with pytest.raises(DatasetError) as caught:
        draft_of(tmp_path, data, **options)
    return str(caught.value)


def bases(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "bases.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.skipif(not ROWS.is_file(), reason=f"{ROWS} is not here")
def test_all_real_rows_become_cases_byte_for_byte(tmp_path: Path) -> None:
    made = drafts(SwebenchDataset(), ROWS, specifications="none")
    bench = Bench(tmp_path / "bench")
    place_drafts(bench, made)
    rows = {}
    for line in ROWS.read_text(encoding="utf-8").splitlines():
        data = json.loads(line)
        rows[data["instance_id"]] = data
    assert {draft.case_id for draft in made} == set(rows)
    assert len(rows) == 30
    for draft in made:
        data, task = rows[draft.case_id], read_task(bench.load(draft.case_id))
        instance = task.instance
        assert instance.gold_patch.encode() == data["patch"].encode()
        assert instance.test_patch.encode() == data["test_patch"].encode()
        assert instance.base_commit == data["base_commit"]
        assert list(instance.fail_to_pass) == json.loads(data["FAIL_TO_PASS"])
        lost = set(json.loads(data["PASS_TO_PASS"])) - set(instance.pass_to_pass)
        assert lost <= {"[100%]", "[", "[100%]------------------------------"}
        assert (task.tests.framework, task.tests.rule) == ("log", "swebench")
        assert task.tests.parser == data["log_parser"]
        assert task.task.environment.image == data["image"]
        assert isinstance(task.tests.command, str)
        assert f"\n{task.tests.command}\n" in data["eval_script"].replace(
            "\nsource /opt/miniconda3/bin/activate", ""
        ) or str(task.tests.command).startswith("export ")


def test_a_row_says_what_a_case_is() -> None:
    made = {
        draft.case_id: draft
        for draft in drafts(
            SwebenchDataset(), DATA / "rows.jsonl", bases=DATA / "bases.toml"
        )
    }
    draft = made["psf__requests-6028"]
    assert draft.task.repository.model_dump() == {
        "name": "psf/requests",
        "source": "sdist:requests==2.27.0",
        "base_commit": "0192aac24123735b3eaf9b08df46429bb770c283",
        "sha256": "8e5643905bf20a308e25e4c1dd379117c09000bf8a82ebccc462cfb1b34a16b5",
    }
    assert draft.task.environment.python == "3.9"
    assert draft.task.environment.install[-1] == (
        "pip install --no-build-isolation --no-deps -e ."
    )
    assert draft.tests.command == "pytest -rA tests/test_utils.py"
    assert draft.difficulty == "medium"
    assert draft.commit_sha == "0192aac24123735b3eaf9b08df46429bb770c283"
    assert draft.origin["version"] == "2.27"
    assert draft.origin["installed_by_eval_script"] == "python -m pip install ."


@pytest.mark.parametrize(
    "value",
    [
        '["t.py::a b", "t.py::c[1"]',
        ["t.py::a b", "t.py::c[1"],
        "['t.py::a b', 't.py::c[1']",
        {"t.py::a b": {"fix": "PASS"}, "t.py::c[1": {}},
        ["t.py::a b", "t.py::a b", "", "[100%]", "t.py::c[1", "[", "[ 99%] x"],
    ],
)
@pytest.mark.parametrize("key", ["FAIL_TO_PASS", "fail_to_pass", "F2P", "f2p"])
def test_lists_of_tests_come_in_many_forms(
    tmp_path: Path, key: str, value: object
) -> None:
    draft = draft_of(tmp_path, row(FAIL_TO_PASS=None) | {key: value})
    assert draft.tests.fail_to_pass == ["t.py::a b", "t.py::c[1"]


def test_what_is_no_test_is_told(tmp_path: Path) -> None:
    draft = draft_of(tmp_path, row(PASS_TO_PASS=["[100%]", "", "t.py::a"]))
    assert draft.tests.pass_to_pass == ["t.py::a"]
    assert draft.origin["no_tests"] == "'[100%]'\n''"


def test_a_row_without_tests_that_pass_before_is_fine(tmp_path: Path) -> None:
    values: tuple[Any, ...] = ("[]", [], "", None)
    for nothing in values:
        data = row() | {"PASS_TO_PASS": nothing}
        assert draft_of(tmp_path, data).tests.pass_to_pass == []


@pytest.mark.parametrize(
    ("said", "difficulty"),
    [
        ("<15 min fix", "easy"),
        ("15 min - 1 hour", "medium"),
        ("1-4 hours", "hard"),
        (">4 hours", "hard"),
        (None, "medium"),
        ({"files": 1}, "medium"),
    ],
)
def test_difficulty_is_that_of_verified(
    tmp_path: Path, said: object, difficulty: str
) -> None:
    assert draft_of(tmp_path, row(difficulty=said)).difficulty == difficulty


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (
            {"instance_id": None},
            "rows.jsonl, line 1: instance_id: missing; the row has",
        ),
        ({"instance_id": "../.."}, "instance_id: '../..' has nothing that an id"),
        ({"problem_statement": " "}, "(acme__lib-1): problem_statement: is empty"),
        ({"repo": 3}, "repo: must be text, is a number"),
        ({"patch": ["x"]}, "patch: must be text, is a list"),
        ({"base_commit": None}, "base_commit: missing; give base_commit of acme/lib"),
        ({"FAIL_TO_PASS": None}, "FAIL_TO_PASS: missing (did you mean"),
        ({"FAIL_TO_PASS": "[1, 2"}, "FAIL_TO_PASS: is text, but no list in JSON"),
        ({"FAIL_TO_PASS": "[1, 2]"}, "must be a list of test ids; item 1 is a number"),
        ({"FAIL_TO_PASS": 7}, "must be a list of test ids, is a number"),
        ({"FAIL_TO_PASS": "__import__('os')"}, "FAIL_TO_PASS: is text, but no list"),
        (
            {"FAIL_TO_PASS": "[]", "PASS_TO_PASS": "[]"},
            "FAIL_TO_PASS: names no test, and neither does PASS_TO_PASS",
        ),
        ({"log_parser": None}, "log_parser: missing, and what acme/lib prints is not"),
        (
            {"log_parser": "parse_log_flsk"},
            "there is no 'parse_log_flsk' here (did you mean 'parse_log_flask'?); name",
        ),
        (
            {"eval_type": "fail_some"},
            "eval_type: is 'fail_some'; SWE-bench has 'fail_only' and 'pass_and_fail'",
        ),
        ({"image_assets": "{"}, "image_assets: is text, but no JSON"),
        ({"image_assets": [1]}, "image_assets: must be an object of lists of images"),
        (
            {"log_parser": "parse_log_marked"},
            "eval_script: missing, and nothing else says what prints what "
            "parse_log_marked reads; give test_command in the file of --option bases",
        ),
        (
            {"log_parser": "parse_log_lighthouse", "version": "new"},
            "log_parser: there is no 'parse_log_lighthouse' here (did you mean",
        ),
        ({"test_patch": ""}, None),
        (
            {"test_patch": "", "FAIL_TO_PASS": ["a (b.C)"], "PASS_TO_PASS": []},
            "test_patch: touches no file of tests, and there is no eval_script",
        ),
        ({"hints_text": "\ud800"}, "hints_text: holds \\ud800 alone"),
    ],
)
def test_what_is_wrong_is_told_with_place_key_and_remedy(
    tmp_path: Path, changed: dict[str, Any], words: str | None
) -> None:
    if words is None:
        assert draft_of(tmp_path, row(**changed)).tests.command == (
            "pytest -rA tests/test_lib.py"
        )
    else:
        assert words in fault_of(tmp_path, row(**changed))


def test_the_files_of_the_test_patch_are_run_where_no_script_says(
    tmp_path: Path,
) -> None:
    assert draft_of(tmp_path, row()).tests.command == "pytest -rA tests/test_lib.py"
    django = row(repo="django/django", log_parser=None)
    assert draft_of(tmp_path, django).tests.command == (
        "./tests/runtests.py --verbosity 2 --settings=test_sqlite --parallel 1 test_lib"
    )
    assert draft_of(tmp_path, row(test_cmd="pytest -x")).tests.command == (
        "pytest -x tests/test_lib.py"
    )


SCRIPT = """\
#!/bin/bash
set -uxo pipefail
source /opt/miniconda3/bin/activate
conda activate testbed
cd /testbed
sed -i '/en_US.UTF-8/s/^# //g' /etc/locale.gen && locale-gen
export LANG=en_US.UTF-8
git status
pip install numpy
python -m pip install -e .
git checkout aaa tests/test_lib.py
git apply -v - <<'EOF_1'
+: '>>>>> no mark'
pip install of-the-patch
EOF_1
{builds}: '>>>>> Start Test Output'
pytest -rA a.py
pytest -rA b.py
: '>>>>> End Test Output'
git checkout aaa tests/test_lib.py
"""


def test_the_parts_of_a_script_are_told_apart(tmp_path: Path) -> None:
    draft = draft_of(tmp_path, row(eval_script=SCRIPT.replace("{builds}", "")))
    assert draft.task.environment.install == [
        "pip install numpy",
        "python -m pip install -e .",
    ]
    assert isinstance(draft.tests.command, list)
    assert draft.tests.command[2].splitlines()[3:5] == [
        "pytest -rA a.py",
        "pytest -rA b.py",
    ]
    assert draft.origin["environment"] == "eval_script"


def test_what_is_built_before_the_tests_is_none_of_them(tmp_path: Path) -> None:
    script = SCRIPT.replace("{builds}", "make all\n")
    command = draft_of(tmp_path, row(eval_script=script)).tests.command
    assert isinstance(command, list)
    assert command[:2] == ["bash", "-c"]
    assert command[2] == (
        "set -uxo pipefail\n"
        "export LANG=en_US.UTF-8\n"
        "make all\n"
        "echo '>>>>> Start Test Output'\n"
        "pytest -rA a.py\n"
        "pytest -rA b.py\n"
        "status=$?\n"
        "echo '>>>>> End Test Output'\n"
        "exit $status"
    )


@pytest.mark.parametrize(
    ("changed", "parser"),
    [
        ({"log_parser": "parse_log_gotest"}, "parse_log_gotest"),
        (
            {"log_parser": "parse_log_jekyll", "instance_id": "jekyll__jekyll-8761"},
            "parse_log_cucumber",
        ),
        (
            {
                "log_parser": "parse_log_immutable_js",
                "instance_id": "i__immutable-2005",
            },
            "parse_log_jest_json",
        ),
    ],
)
def test_rows_of_multilingual_have_their_parsers(
    tmp_path: Path, changed: dict[str, Any], parser: str
) -> None:
    data = row(eval_script=SCRIPT.replace("{builds}", ""), **changed)
    assert draft_of(tmp_path, data).tests.parser == parser


@pytest.mark.parametrize(
    ("parser", "version", "ours"),
    [
        ("parse_log_carbon", "7.0", "parse_log_carbon"),
        ("parse_log_next", "1.27", "next-v2"),
        ("parse_log_next", "1.24", "next-v1"),
        ("parse_log_lighthouse", "10.0", "lighthouse-mocha"),
        ("parse_log_lighthouse", "9.4", "carbon"),
        ("parse_log_lighthouse", "2.9", "lighthouse-json"),
    ],
)
def test_rows_of_multimodal_have_their_parsers(
    tmp_path: Path, parser: str, version: str, ours: str
) -> None:
    data = row(
        eval_script=SCRIPT.replace("{builds}", ""), log_parser=parser, version=version
    )
    draft = draft_of(tmp_path, data)
    assert (draft.tests.parser, draft.tests.rule) == (ours, "swebench")


def test_a_row_of_multimodal_becomes_a_case_of_text(tmp_path: Path) -> None:
    script = SCRIPT.replace("{builds}", "").replace(
        "pytest -rA b.py", "xvfb-run -a npm test"
    )
    images = {
        "problem_statement": ["https://example.org/a.png"],
        "test_patch": [{"path": "test/b.png", "url": "https://example.org/b.png"}],
    }
    data = row(
        repo="openlayers/openlayers",
        log_parser=None,
        problem_statement="It is blue: ![](https://example.org/a.png)",
        image_assets=json.dumps(images),
        eval_script=script,
    )
    draft = draft_of(tmp_path, data)
    assert draft.problem == "It is blue: ![](https://example.org/a.png)"
    assert draft.tests.parser == "parse_log_openlayers"
    assert draft.tests.rule == "swebench-fail-only"
    assert draft.origin["images_of_problem"] == "https://example.org/a.png"
    assert draft.origin["files_without_content"] == "test/b.png"
    named = draft_of(tmp_path, {**data, "eval_type": "pass_and_fail"})
    assert named.tests.rule == "swebench"


def test_a_table_gives_no_files_to_programs_of_other_languages(tmp_path: Path) -> None:
    config = {"test_cmd": "./jasmine --no-color", "log_parser": "parse_log_marked"}
    data = row(log_parser=None, install_config=config)
    assert draft_of(tmp_path, data).tests.command == "./jasmine --no-color"
    config |= {"test_cmd": "xvfb-run npm test", "log_parser": "parse_log_next"}
    command = draft_of(tmp_path, data).tests.command
    assert isinstance(command, list)
    assert "set -uxo pipefail\n" in command[2]


def test_a_command_whose_trace_is_read_is_traced(tmp_path: Path) -> None:
    script = SCRIPT.replace("{builds}", "").replace("pytest -rA b.py\n", "")
    script = script.replace("pytest -rA a.py", "./node_modules/.bin/jest --verbose x")
    data = row(log_parser="parse_log_calypso", eval_script=script)
    command = draft_of(tmp_path, data).tests.command
    assert isinstance(command, list)
    assert command[:2] == ["bash", "-c"]
    assert "set -uxo pipefail\n" in command[2]


def test_a_row_of_swe_rebench_says_what_to_install(tmp_path: Path) -> None:
    config = {
        "python": "3.9",
        "packages": "requirements.txt",
        "reqs_path": ["requirements/base.txt"],
        "pip_packages": ["pytest<8", "pytest-cov"],
        "pre_install": ["apt-get update", "sed -i 's/a/b/' setup.cfg"],
        "install": "pip install -e .[dev]",
        "test_cmd": "pytest --no-header -rA --tb=line",
        "log_parser": "parse_log_pytest",
    }
    draft = draft_of(
        tmp_path,
        row(log_parser=None, install_config=config, docker_image="swerebench/x"),
    )
    assert draft.task.environment.python == "3.9"
    assert draft.task.environment.image == "swerebench/x"
    assert draft.task.environment.install == [
        'for file in requirements/base.txt; do if [ -f "$file" ]; then python -m pip '
        'install -r "$file"; break; fi; done',
        "python -m pip install 'pytest<8' pytest-cov",
        "sed -i 's/a/b/' setup.cfg",
        "pip install -e .[dev]",
    ]
    assert draft.tests.command == ("pytest --no-header -rA --tb=line tests/test_lib.py")
    assert draft.origin["environment"] == "install_config"


def test_a_row_of_swe_gym_needs_no_parser(tmp_path: Path) -> None:
    data = row(repo="getmoto/moto", log_parser=None, environment_setup_commit=None)
    assert draft_of(tmp_path, data).tests.parser == "parse_log_pytest"


def test_the_patch_of_swe_smith_plants_a_fault(tmp_path: Path) -> None:
    data = row(
        repo="swesmith/acme__lib.12345678",
        base_commit=None,
        log_parser=None,
        test_patch=None,
        image_name="swesmith/x",
    )
    assert "base_commit: missing; give base_commit of swesmith/acme" in fault_of(
        tmp_path, data
    )
    path = bases(tmp_path, f'["acme__lib-1"]\nbase_commit = "{"c" * 40}"\n')
    draft = draft_of(tmp_path, data, bases=path)
    assert draft.task.repository.source == (
        "https://github.com/swesmith/acme__lib.12345678.git"
    )
    assert draft.task.repository.base_commit == "c" * 40
    assert "-    return number / 2\n+    return number / 3" not in draft.gold_patch
    assert "+    return number / 3\n-    return number / 2" in draft.gold_patch
    assert draft.tests.parser == "pytest-verbose"
    assert draft.tests.command == (
        "pytest --disable-warnings --color=no --tb=no --verbose tests/test_lib.py"
    )
    assert draft.task.environment.image == "swesmith/x"


def test_a_row_of_multi_swe_bench_is_a_pull_request(tmp_path: Path) -> None:
    data = {
        "org": "acme",
        "repo": "lib",
        "number": 7,
        "base": {"label": "acme:main", "ref": "main", "sha": "d" * 40},
        "title": "Fix half",
        "body": "Closes #6",
        "resolved_issues": [{"number": 6, "title": "half is wrong", "body": "of 4"}],
        "fix_patch": GOLD,
        "test_patch": TEST_PATCH,
        "fixed_tests": {"tests/test_lib.py::test_new": {"run": "FAIL", "fix": "PASS"}},
        "p2p_tests": {"tests/test_lib.py::test_old": {"run": "PASS", "fix": "PASS"}},
        "difficulty": "medium",
    }
    assert "log_parser: missing" in fault_of(tmp_path, data)
    draft = draft_of(tmp_path, data, parser="pytest")
    assert draft.case_id == "acme__lib-7"
    assert draft.problem == "half is wrong\n\nof 4"
    assert draft.gold_patch == GOLD
    assert draft.tests.fail_to_pass == ["tests/test_lib.py::test_new"]
    assert draft.tests.pass_to_pass == ["tests/test_lib.py::test_old"]
    assert draft.commit_sha == "d" * 40
    assert "base: must be an object" in fault_of(tmp_path, data | {"base": "main"})


def test_bases_say_for_a_repository_and_for_an_instance(tmp_path: Path) -> None:
    (tmp_path / "mirror").mkdir()
    (tmp_path / "lib.tar.gz").write_bytes(b"archive")
    path = bases(
        tmp_path,
        '["acme/lib"]\nsource = "mirror"\npython = "3.11"\ntimeout_seconds = 30\n'
        '["acme__lib-2"]\nsource = "lib.tar.gz"\nsha256 = "' + "0" * 64 + '"\n'
        'install = "none"\ntest_command = "pytest -rA"\nparser = "pytest-v2"\n'
        'image = "x"\n',
    )
    first = draft_of(tmp_path, row(), bases=path)
    assert first.task.repository.source == str(tmp_path / "mirror")
    assert first.task.repository.base_commit == "a" * 40
    assert first.task.environment.model_dump() == {
        "python": "3.11",
        "install": "auto",
        "image": "",
    }
    assert first.tests.timeout_seconds == 30
    second = draft_of(tmp_path, row(instance_id="acme__lib-2"), bases=path)
    assert second.task.repository.source == "lib.tar.gz"
    assert second.files["input/lib.tar.gz"].data == tmp_path / "lib.tar.gz"
    assert second.task.environment.model_dump() == {
        "python": "3.11",
        "install": "none",
        "image": "x",
    }
    assert (second.tests.command, second.tests.parser) == ("pytest -rA", "pytest-v2")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = ", "bases.toml: not TOML"),
        ('source = "x"', "bases.toml: source: must be a table that is named by"),
        ('[a]\nsorce = "x"', "a.sorce: unknown key (did you mean 'source'?)"),
        ("[a]\npython = 3.11", "a.python: Input should be a valid string, got 3.11"),
        ('[a]\nsha256 = "x"', "a.sha256: String should match pattern"),
        ('["acme/lib"]\nsource = "gone.zip"', "source: there is no 'gone.zip' beside"),
    ],
)
def test_bases_that_are_wrong_are_told(tmp_path: Path, text: str, words: str) -> None:
    assert words in fault_of(tmp_path, row(), bases=bases(tmp_path, text))


def test_bases_that_are_missing_are_told(tmp_path: Path) -> None:
    assert "gone.toml: cannot be read: No such file" in fault_of(
        tmp_path, row(), bases=tmp_path / "gone.toml"
    )


def task_directory(root: Path, data: dict[str, Any]) -> Path:
    """Write a row as SWE-bench 5 lays out an instance."""
    directory = root / "tasks" / str(data["instance_id"])
    directory.mkdir(parents=True)
    lists = {key: json.loads(data.pop(key)) for key in ("FAIL_TO_PASS", "PASS_TO_PASS")}
    texts = {
        "tests.json": json.dumps(lists),
        "gold.patch": data.pop("patch"),
        "test.patch": data.pop("test_patch"),
        "problem_statement.md": data.pop("problem_statement"),
        "eval.sh": SCRIPT.replace("{builds}", ""),
        "task.yaml": json.dumps(data | {"split": "test"}),
    }
    for name, text in texts.items():
        (directory / name).write_text(text, encoding="utf-8", newline="")
    return directory


def test_directories_of_swe_bench_5_are_read(tmp_path: Path) -> None:
    directory = task_directory(tmp_path, row())
    task_directory(tmp_path, row(instance_id="acme__lib-0"))
    asset = directory / "test_assets" / "tests" / "expected.png"
    asset.parent.mkdir(parents=True)
    asset.write_bytes(b"\x89PNG")
    for source, count in ((tmp_path, 2), (tmp_path / "tasks", 2), (directory, 1)):
        made = drafts(SwebenchDataset(), source)
        assert len(made) == count
        draft = made[-1]
        assert draft.case_id == "acme__lib-1"
        assert (draft.gold_patch, draft.test_patch) == (GOLD, TEST_PATCH)
        assert draft.tests.fail_to_pass == ["tests/test_lib.py::test_new"]
        assert draft.files["expected/overlay/tests/expected.png"].data == asset
    assert drafts(SwebenchDataset(), tmp_path, split="dev") == []


def test_a_task_directory_that_leads_elsewhere_is_refused(tmp_path: Path) -> None:
    directory = task_directory(tmp_path, row())
    (directory / "gold.patch").unlink()
    (directory / "gold.patch").symlink_to("/etc/passwd")
    with pytest.raises(DatasetError, match=r"gold\.patch: is a link"):
        drafts(SwebenchDataset(), tmp_path)


REVERSIBLE = [
    GOLD,
    TEST_PATCH,
    "diff --git a/b.py b/b.py\ndeleted file mode 100644\n--- a/b.py\n+++ /dev/null\n"
    "@@ -1,2 +0,0 @@\n---- a/x\n-++ y\n",
    "diff --git a/b.py b/c.py\nold mode 100644\nnew mode 100755\n"
    "similarity index 50%\nrename from b.py\nrename to c.py\n"
    "--- a/b.py\n+++ b/c.py\n@@ -1,2 +1,2 @@ def x():\n --- a/x\n-++ y\n+++ z\n"
    "\\ No newline at end of file\n",
]


@pytest.mark.parametrize("patch", REVERSIBLE)
def test_a_reversed_patch_undoes_the_patch(tmp_path: Path, patch: str) -> None:
    from pytest_codegenie.datasets.swebench.reversing import reversed_diff

    files = {
        "lib.py": "def half(number):\n    return number / 3\n",
        "tests/test_lib.py": "def test_old():\n    pass\n",
        "b.py": "--- a/x\n++ y\n",
    }

    def apply(diff: str) -> None:
        command = ["git", "apply", "-"]
        subprocess.run(command, input=diff.encode(), cwd=tmp_path, check=True)

    def tree() -> dict[str, tuple[bytes, int]]:
        return {
            path.relative_to(tmp_path).as_posix(): (
                path.read_bytes(),
                path.stat().st_mode,
            )
            for path in sorted(tmp_path.rglob("*"))
            if path.is_file()
        }

    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    before = tree()
    apply(patch)
    assert tree() != before
    apply(reversed_diff(patch))
    assert tree() == before


def test_a_patch_of_a_binary_file_cannot_be_reversed(tmp_path: Path) -> None:
    patch = "diff --git a/x b/x\nBinary files a/x and b/x differ\n"
    data = row(repo="swesmith/acme__lib.1", patch=patch)
    assert "patch: changes a binary file" in fault_of(tmp_path, data)
    data = row(repo="swesmith/acme__lib.1", patch="no diff")
    assert "patch: is no git diff" in fault_of(tmp_path, data)
