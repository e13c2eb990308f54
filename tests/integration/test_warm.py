"""What tests start for ``sys.executable`` is told from it by its speed alone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support_warm import warm_programs
from support_warm import warm_python


#: What a program finds that is not only a matter of what is imported.
LOOK = (
    "import json, os, sys; "
    "print(json.dumps([sys.argv, sys.orig_argv[0], os.getcwd(), sys.path[:2], "
    "dict(os.environ), sys.stdin.read(), __name__, sys.stdout.encoding])); "
    "print('said', file=sys.stderr); sys.exit(7)"
)


def look(python: tuple[str, ...], directory: Path) -> tuple[int, str, str]:
    done = subprocess.run(
        [*python, "-c", LOOK, "a b", "--c"],
        cwd=directory,
        env={**os.environ, "PYTHONPATH": "lib", "MARK": "\u00e4"},
        input="given",
        capture_output=True,
        check=False,
        encoding="utf-8",
    )
    return done.returncode, done.stdout, done.stderr


def test_a_program_finds_the_same(tmp_path: Path) -> None:
    real, warm = look((sys.executable,), tmp_path), look(warm_python(), tmp_path)
    assert warm == real
    assert warm[0] == 7
    assert json.loads(warm[1])[0] == ["-c", "a b", "--c"]


def test_it_has_been_imported_already() -> None:
    code = "import sys; print('pytest_codegenie.session.control' in sys.modules)"
    done = subprocess.run(
        [*warm_python(), "-c", code], capture_output=True, check=True, text=True
    )
    assert done.stdout == "True\n"


@pytest.mark.parametrize("variable", ["PYTHONWARNINGS", "LC_ALL", "TESTS_START_COLD"])
def test_what_only_a_start_can_show_is_started(variable: str) -> None:
    code = "import sys; print('pytest_codegenie.session.control' in sys.modules)"
    done = subprocess.run(
        [*warm_python(), "-c", code],
        env={**os.environ, variable: "C"},
        capture_output=True,
        check=True,
        text=True,
    )
    assert done.stdout == "False\n"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_it_ends_by_the_signal_that_ended_the_program(number: signal.Signals) -> None:
    code = f"import os; os.kill(os.getpid(), {number.value})"
    done = subprocess.run([*warm_python(), "-c", code], check=False)
    assert done.returncode == -number


def test_a_signal_reaches_the_program() -> None:
    code = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(3))\n"
        "print('up', flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen(
        [*warm_python(), "-c", code], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        process.terminate()
        assert process.wait() == 3


@pytest.mark.parametrize("name", ["codegenie", "pytest"])
def test_programs_say_what_the_installed_ones_say(name: str, tmp_path: Path) -> None:
    shown = []
    for place in (warm_programs(), Path(sys.executable).parent):
        done = subprocess.run(
            [str(place / name), "--no-such-option"],
            cwd=tmp_path,
            capture_output=True,
            check=False,
            encoding="utf-8",
        )
        assert done.returncode == 4
        shown.append(done.stderr.replace(f"{place}/", ""))
    assert shown[0] == shown[1]
