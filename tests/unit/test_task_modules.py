"""A task class's own Python: imported once, in private, whatever it does."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_codegenie.errors import CodegenieError
from pytest_codegenie.errors import TaskClassAlreadyRegistered
from pytest_codegenie.errors import TaskClassIncomplete
from pytest_codegenie.errors import TaskClassNotFound
from pytest_codegenie.registry import default_registry
from pytest_codegenie.task_modules import import_registration
from pytest_codegenie.task_modules import import_task_module


HEAD = """\
from pathlib import Path
from pytest_codegenie import register_task_class


class Rubric:
    def score(self, case, harness_output):
        return None


def register(name, rubric=Rubric, tiers={"bronze": 5}):
    register_task_class(
        name, bench_path=Path(__file__).parent, min_cases_for_promotion=tiers
    )(rubric)


"""
COUNTING = "with open(__file__ + '.count', 'a') as file: file.write('x')\n"
GOOD = HEAD + 'register("demo")\n'
#: The line that follows HEAD.
LINE = HEAD.count("\n") + 1

MakeClass = Callable[..., Path]


@pytest.fixture
def make_class(tmp_path: Path) -> MakeClass:
    """Make ``<tmp>/<place>/demo`` with a registration.py and other files."""

    def make(registration: str = GOOD, place: str = "bench", **modules: str) -> Path:
        directory = tmp_path / place / "demo"
        directory.mkdir(parents=True)
        modules["registration"] = registration
        for stem, source in modules.items():
            path = directory / f"{stem.replace('__', '/')}.py"
            path.parent.mkdir(exist_ok=True)
            path.write_text(source, encoding="utf-8")
        return directory

    return make


@pytest.fixture(autouse=True)
def no_trace_left() -> object:
    """Whatever a module did, ``sys.path`` and the names of others are as before."""
    path, modules = list(sys.path), set(sys.modules)
    registered = default_registry.names()
    yield
    assert sys.path == path
    assert default_registry.names() == registered
    new = {name.partition(".")[0] for name in set(sys.modules) - modules}
    foreign = {name for name in new if not name.startswith("_codegenie_demo_")}
    assert not foreign & {"registration", "rubric", "scoring_rules", "demo"}


def test_a_registration_gives_its_task_class_once_per_process(
    make_class: MakeClass,
) -> None:
    directory = make_class(GOOD + COUNTING)
    first = import_registration(directory)
    assert first.name == "demo"
    assert first.rubric_class.__name__ == "Rubric"
    assert import_registration(directory) is first
    assert import_registration(directory / ".." / "demo") is first
    assert (directory / "registration.py.count").read_text(encoding="utf-8") == "x"


@pytest.mark.parametrize(
    ("tail", "error", "message"),
    [
        (
            "1 / 0",
            TaskClassIncomplete,
            "importing it raised ZeroDivisionError: division by zero "
            f"(registration.py, line {LINE}); mend the module",
        ),
        (
            "raise SystemExit(3)",
            TaskClassIncomplete,
            f"importing it raised SystemExit: 3 (registration.py, line {LINE})",
        ),
        (
            "import pytest\npytest.exit('now')",
            TaskClassIncomplete,
            f"importing it raised Exit: now (registration.py, line {LINE + 1})",
        ),
        (
            "import numpyx.linalg",
            TaskClassIncomplete,
            "importing it raised ModuleNotFoundError: No module named 'numpyx' "
            f"(registration.py, line {LINE}); install 'numpyx' or mend the module",
        ),
        (
            "def (",
            TaskClassIncomplete,
            "importing it raised SyntaxError: invalid syntax (registration.py, line "
            f"{LINE}); mend the module",
        ),
        (
            "class Odd(Exception):\n    def __str__(self): raise ValueError\nraise Odd",
            TaskClassIncomplete,
            "importing it raised Odd: (a message that cannot be shown)",
        ),
        (
            "register(3)",
            TaskClassIncomplete,
            "importing it raised TypeError: register_task_class: the name must be a "
            "str, got 3",
        ),
        (
            "@register_task_class\nclass Bare: pass",
            TaskClassIncomplete,
            "missing 2 required keyword-only arguments",
        ),
        ("", TaskClassNotFound, "not found in demo/registration.py; available: none"),
        (
            "register('other')",
            TaskClassNotFound,
            "'demo' not found in demo/registration.py; available: 'other'; a task",
        ),
        (
            "register('demo')\nregister('other')",
            TaskClassAlreadyRegistered,
            "'demo' is already registered by demo/registration.py as 'demo'; "
            "demo/registration.py as 'other' cannot be registered too",
        ),
        (
            "register('demo')\nregister('demo')",
            TaskClassAlreadyRegistered,
            "registration.Rubric cannot be registered too: keep exactly one",
        ),
        (
            "class NoRubric: pass\nregister('demo', NoRubric)",
            TaskClassIncomplete,
            "registration.py: NoRubric is no rubric: it has no method score(case, "
            "harness_output) -> BenchScore",
        ),
        (
            "class Odd:\n    score = 1.0\nregister('demo', Odd)",
            TaskClassIncomplete,
            "Odd is no rubric: it has no method score",
        ),
        (
            "register('demo', 3)",
            TaskClassIncomplete,
            "what is decorated must be a rubric class, got 3",
        ),
        (
            "register('demo', tiers=5)",
            TaskClassIncomplete,
            "min_cases_for_promotion must map tiers to numbers, got 5",
        ),
    ],
)
def test_a_registration_that_does_not_hold_is_named_with_what_is_wrong(
    make_class: MakeClass, tail: str, error: type[CodegenieError], message: str
) -> None:
    directory = make_class(HEAD + tail + "\n")
    for _ in range(2):  # who asks again gets the same answer
        with pytest.raises(error) as caught:
            import_registration(directory)
        assert message in str(caught.value)
        assert caught.value.exit_code == 9


def test_a_registration_that_raises_is_imported_once_too(make_class: MakeClass) -> None:
    directory = make_class(f"{COUNTING}1 / 0\n")
    for _ in range(2):
        with pytest.raises(TaskClassIncomplete):
            import_registration(directory)
    assert (directory / "registration.py.count").read_text(encoding="utf-8") == "x"


def test_a_registration_that_is_missing_may_still_be_written(
    make_class: MakeClass,
) -> None:
    directory = make_class()
    path = directory / "registration.py"
    path.rename(directory / "away")
    with pytest.raises(TaskClassIncomplete, match=r"registration.py: missing; '"):
        import_registration(directory)
    (directory / "away").rename(path)
    assert import_registration(directory).name == "demo"


def test_a_keyboard_interrupt_is_the_users(make_class: MakeClass) -> None:
    directory = make_class("raise KeyboardInterrupt\n")
    with pytest.raises(KeyboardInterrupt):
        import_registration(directory)


def test_what_a_registration_prints_is_dropped(
    make_class: MakeClass, capsys: pytest.CaptureFixture[str]
) -> None:
    noise = "import sys\nprint('OUT')\nprint('ERR', file=sys.stderr)\n"
    assert import_registration(make_class(GOOD + noise)).name == "demo"
    assert capsys.readouterr() == ("", "")


def test_a_missing_module_is_named(make_class: MakeClass) -> None:
    directory = make_class()
    with pytest.raises(TaskClassIncomplete) as caught:
        import_task_module(directory, "breakdown_keys")
    assert caught.value.args == ("demo", directory / "breakdown_keys.py")
    assert "breakdown_keys.py: missing; 'codegenie new" in str(caught.value)


@pytest.mark.parametrize(
    "how", ["from .rubric import Rubric", "from rubric import Rubric"]
)
def test_two_task_classes_with_modules_of_one_name_do_not_meet(
    make_class: MakeClass, how: str
) -> None:
    source = "class Rubric:\n    place = {!r}\n    def score(self, case, output): ...\n"
    registration = f"{HEAD}{how}\nregister('demo', Rubric)\n"
    directories = [
        make_class(registration, place, rubric=source.format(place))
        for place in ("one", "two")
    ]
    classes = [import_registration(path).rubric_class for path in directories]
    assert [cls.place for cls in classes] == ["one", "two"]


def test_a_package_of_the_task_class_is_found_and_stays_private(
    make_class: MakeClass,
) -> None:
    registration = (
        f"{HEAD}from scoring_rules.weights import PLACE\n"
        "Rubric.place = PLACE\nregister('demo')\n"
    )
    places = []
    for place in ("one", "two"):
        directory = make_class(
            registration,
            place,
            scoring_rules____init="",
            scoring_rules__weights=f"PLACE = {place!r}\n",
        )
        places.append(import_registration(directory).rubric_class.place)
    assert places == ["one", "two"]


def test_a_module_of_that_name_that_was_there_before_is_there_again(
    make_class: MakeClass, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = type(sys)("helpers")
    monkeypatch.setitem(sys.modules, "helpers", mine)
    registration = (
        f"{HEAD}from helpers import WHOSE\nRubric.whose = WHOSE\nregister('demo')\n"
    )
    directory = make_class(registration, helpers="WHOSE = 'theirs'\n")
    assert import_registration(directory).rubric_class.whose == "theirs"
    assert sys.modules["helpers"] is mine
