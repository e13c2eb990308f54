"""Keys and what the run file calls secret: nowhere in what a run leaves or says."""

from __future__ import annotations

from pathlib import Path

import pytest
from integration.sessions import Project


#: By where the agent has it from.
CANARIES = {
    "inherited": "sk-inherited-5b1d27c0f9",
    "given": "sk-given-e8a40c6b13f2",
    "listed": "no key by its name 7d2f",
}
#: Tells all it knows: to both streams, in halves, in the tree, in base64; then fails.
TELLS = r"""
set -u
for word in "$OPENAI_API_KEY" "$GIVEN_TOKEN" "$FLAVOUR"; do
    echo "out $word"
    echo "err $word" >&2
    printf '%s' "$(printf %s "$word" | cut -c1-7)"; sleep 0.05
    printf '%s\n' "$(printf %s "$word" | cut -c8-)"
    printf %s "$word" | base64 >> told.txt
    echo "$word" >> told.txt
    echo "print('$word')" >> thermometer.py
done
echo "$OPENAI_API_KEY" > "$HOME/kept.txt"
"""


def _run(project: Project, *arguments: str, **settings: object) -> pytest.RunResult:
    agent = {
        "name": "command",
        "label": "teller",
        "options": {
            "command": ["/bin/sh", "-c", TELLS],
            "inherit": ["OPENAI_API_KEY", "FLAVOUR"],
        },
        "env": {"GIVEN_TOKEN": CANARIES["given"]},
    }
    option = project.run_file(agents=[agent], secrets=["FLAVOUR"], **settings)
    return project.run(option, "--junitxml=report.xml", "-rA", *arguments)


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", CANARIES["inherited"])
    monkeypatch.setenv("FLAVOUR", CANARIES["listed"])


@pytest.mark.parametrize("keep", ["never", "always"])
def test_no_canary_is_in_anything_that_a_run_leaves(
    project: Project, plugin_args: list[str], keep: str
) -> None:
    project.case("told", files={})
    result = _run(
        project,
        *plugin_args,
        keep=keep,
        reporters=["console", "csv", "json", "jsonl", "markdown"],
    )
    result.assert_outcomes(failed=1)
    _nobody_tells(project.path, result)
    output = project.only_run().results[0].output
    assert output is not None
    assert output.agent.stdout.count("[redacted]") == 2 * len(CANARIES)
    assert "[redacted]" in output.patch
    assert output.agent.metadata["patch_redacted"] is True


def test_no_canary_is_in_what_is_said_of_an_error(
    project: Project, plugin_args: list[str]
) -> None:
    """The last words of an agent that breaks are a part of the failure's text."""
    project.case("told")
    agent = {
        "name": "command",
        "options": {
            "command": ["/bin/sh", "-c", 'echo "no: $OPENAI_API_KEY" >&2; exit 3'],
            "inherit": ["OPENAI_API_KEY"],
        },
    }
    option = project.run_file(agents=[agent])
    argument = f"-k=not {CANARIES['inherited']}"
    result = project.run(option, "--junitxml=report.xml", argument, *plugin_args)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*exit code 3 and changed nothing: no: ?redacted?*"])
    _nobody_tells(project.path, result)


def _nobody_tells(project: Path, result: pytest.RunResult) -> None:
    said = result.stdout.str() + result.stderr.str()
    told = [canary for canary in CANARIES.values() if canary in said]
    assert told == []
    left = [project / "report.xml", *(project / ".codegenie").rglob("*")]
    files = [path for path in left if path.is_file()]
    assert len(files) > 5
    for file in files:
        data = file.read_bytes()
        told = [canary for canary in CANARIES.values() if canary.encode() in data]
        assert told == [], file
