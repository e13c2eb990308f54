"""The command that runs an instance's tests, and what reads its output."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

from pytest_codegenie.datasets.swebench.bases import Basis
from pytest_codegenie.datasets.swebench.eval_script import EvalScript
from pytest_codegenie.datasets.swebench.fields import Fields
from pytest_codegenie.datasets.swebench.specifications import Specification
from pytest_codegenie.errors import DatasetError
from pytest_codegenie.errors import did_you_mean
from pytest_codegenie.models import VerdictRule
from pytest_codegenie.parser_names import PARSER_NAMES


#: Repository to what reads its output, where a row does not say. The first are of
#: SWE-bench, then come SWE-bench Multimodal's and SWE-Gym's.
_PARSER_OF: Mapping[str, str] = {
    "astropy/astropy": "parse_log_astropy",
    "django/django": "parse_log_django",
    "marshmallow-code/marshmallow": "parse_log_marshmallow",
    "matplotlib/matplotlib": "parse_log_matplotlib",
    "mwaskom/seaborn": "parse_log_seaborn",
    "pallets/flask": "parse_log_flask",
    "psf/requests": "parse_log_requests",
    "pvlib/pvlib-python": "parse_log_pvlib",
    "pydata/xarray": "parse_log_xarray",
    "pydicom/pydicom": "parse_log_pydicom",
    "pylint-dev/astroid": "parse_log_astroid",
    "pylint-dev/pylint": "parse_log_pylint",
    "pytest-dev/pytest": "parse_log_pytest",
    "pyvista/pyvista": "parse_log_pyvista",
    "scikit-learn/scikit-learn": "parse_log_scikit",
    "sphinx-doc/sphinx": "parse_log_sphinx",
    "sqlfluff/sqlfluff": "parse_log_sqlfluff",
    "sympy/sympy": "parse_log_sympy",
    "Automattic/wp-calypso": "parse_log_calypso",
    "GoogleChrome/lighthouse": "parse_log_lighthouse",
    "PrismJS/prism": "parse_log_prismjs",
    "alibaba-fusion/next": "parse_log_next",
    "bpmn-io/bpmn-js": "parse_log_bpmn_js",
    "carbon-design-system/carbon": "parse_log_carbon",
    "chartjs/Chart.js": "parse_log_chart_js",
    "diegomura/react-pdf": "parse_log_react_pdf",
    "eslint/eslint": "parse_log_eslint",
    "grommet/grommet": "parse_log_grommet",
    "highlightjs/highlight.js": "parse_log_highlightjs",
    "markedjs/marked": "parse_log_marked",
    "openlayers/openlayers": "parse_log_openlayers",
    "prettier/prettier": "parse_log_carbon",
    "processing/p5.js": "parse_log_p5js",
    "quarto-dev/quarto-cli": "parse_log_quarto_cli",
    "scratchfoundation/scratch-gui": "parse_log_carbon",
    "Project-MONAI/MONAI": "parse_log_pytest",
    "bokeh/bokeh": "parse_log_pytest",
    "conan-io/conan": "parse_log_pytest",
    "dask/dask": "parse_log_pytest",
    "facebookresearch/hydra": "parse_log_pytest",
    "getmoto/moto": "parse_log_pytest",
    "iterative/dvc": "parse_log_pytest",
    "modin-project/modin": "parse_log_pytest",
    "pandas-dev/pandas": "parse_log_pytest",
    "python/mypy": "parse_log_pytest",
}
#: Repositories of which only failures are read, where a row does not say.
_FAIL_ONLY = frozenset(
    {
        "bpmn-io/bpmn-js",
        "chartjs/Chart.js",
        "eslint/eslint",
        "markedjs/marked",
        "openlayers/openlayers",
        "processing/p5.js",
    }
)
_RULES: Mapping[str, VerdictRule] = {
    "fail_only": "swebench-fail-only",
    "pass_and_fail": "swebench",
}
_LIGHTHOUSE_MOCHA = ("9.5", "10.0", "10.2")
#: Parsers that are several in one, by the number of a pull request.
_BY_NUMBER: Mapping[str, Mapping[str, str]] = {
    "parse_log_immutable_js": {
        "2005": "parse_log_jest_json",
        "2006": "parse_log_jest",
    },
    "parse_log_jekyll": {
        "8047": "parse_log_minitest",
        "8167": "parse_log_minitest",
        "8761": "parse_log_cucumber",
        "8771": "parse_log_cucumber",
        "9141": "parse_log_minitest",
    },
}
#: Parser to what SWE-bench runs, where a row does not say.
_RUN_BY: Mapping[str, str] = {
    "django": "./tests/runtests.py --verbosity 2 --settings=test_sqlite --parallel 1",
    "pytest-verbose": "pytest --disable-warnings --color=no --tb=no --verbose",
    "sympy": (
        "PYTHONWARNINGS='ignore::UserWarning,ignore::SyntaxWarning' bin/test -C "
        "--verbose"
    ),
}
_PYTEST = "pytest -rA"
#: What it reads, version 4 makes of each file of the test patch in a way of its own.
_MADE_BY_FILE = "calypso"
#: Our names of what reads pytest's output begin so.
_PYTEST_READERS = ("matplotlib", "pytest", "seaborn")
_SMITH = "swesmith/"
_VERSION = re.compile(r"\d+(\.\d+)?")
_PATCHED = re.compile(r"^diff --git a/.* b/(.*)$", re.M)
#: SWE-bench takes files that end so for no tests.
_NO_TESTS = (
    ".json",
    ".png",
    "csv",
    ".txt",
    ".md",
    ".jpg",
    ".jpeg",
    ".pkl",
    ".yml",
    ".yaml",
    ".toml",
)


def parser_of(fields: Fields, basis: Basis, option: str, said: str) -> str:
    """Return what reads the output of the tests.

    Args:
        fields: The row; its ``log_parser`` counts if nothing else says.
        basis: What the user says of the instance.
        option: What the user says of all.
        said: What the row's ``install_config`` says.

    Raises:
        DatasetError: Nothing says, or there is no such parser here.
    """
    named = fields.text("log_parser") or said
    smith = "pytest-verbose" if fields.repo.startswith(_SMITH) else ""
    parser = basis.parser or option or named or smith or _PARSER_OF.get(fields.repo, "")
    number = fields.instance_id.rpartition("-")[2]
    parser = _BY_NUMBER.get(parser, {}).get(number, parser)
    parser = _by_version(parser, fields.version)
    if parser in PARSER_NAMES:
        return parser
    remedy = (
        "name one by --option parser=NAME or in the file of --option bases; known: "
        f"{', '.join(sorted(set(PARSER_NAMES.values())))}"
    )
    if not parser:
        raise DatasetError(
            fields.place,
            "log_parser",
            f"missing, and what {fields.repo} prints is not known; {remedy}",
        )
    near = did_you_mean(parser, PARSER_NAMES)
    raise DatasetError(
        fields.place, "log_parser", f"there is no {parser!r} here{near}; {remedy}"
    )


def _by_version(parser: str, version: str) -> str:
    """Return which one of several parsers in one is meant; itself where none is."""
    if parser == "parse_log_next":
        return "next-v2" if version == "1.27" else "next-v1"
    if parser == "parse_log_lighthouse" and _VERSION.fullmatch(version):
        if version in _LIGHTHOUSE_MOCHA:
            return "lighthouse-mocha"
        return "carbon" if float(version) >= 3 else "lighthouse-json"
    return parser


def rule_of(fields: Fields) -> VerdictRule:
    """Return what decides.

    Raises:
        DatasetError: ``eval_type`` names none.
    """
    usual = "fail_only" if fields.repo in _FAIL_ONLY else "pass_and_fail"
    named = fields.text("eval_type") or usual
    if named not in _RULES:
        raise DatasetError(
            fields.place,
            "eval_type",
            f"is {named!r}; SWE-bench has {' and '.join(map(repr, _RULES))}",
        )
    return _RULES[named]


def command_of(
    fields: Fields,
    basis: Basis,
    script: EvalScript | None,
    specification: Specification | None,
    parser: str,
) -> str | list[str]:
    """Return what runs the tests: a shell line, or a program and its arguments.

    Raises:
        DatasetError: Nothing says which files the tests are in.
    """
    if basis.test_command:
        return basis.test_command
    if script is not None and script.tests:
        return script.command
    commands = fields.row.data.get("test_cmds") or fields.row.data.get("test_cmd")
    said = "\n".join(commands) if isinstance(commands, list) else commands
    ours = PARSER_NAMES[parser]
    program = specification.test_command if specification else ""
    python = ours in _RUN_BY or ours.startswith(_PYTEST_READERS)
    if program and not python and ours != _MADE_BY_FILE:
        # The tables give no files to programs of other languages.
        return EvalScript((), (), (), tuple(program.split("\n"))).command
    if not said and not python:
        raise DatasetError(
            fields.place,
            "eval_script",
            f"missing, and nothing else says what prints what {parser} reads; give "
            "test_command in the file of --option bases",
        )
    program = program or said or _RUN_BY.get(ours, _PYTEST)
    files = _test_files(fields, django=fields.repo == "django/django")
    if not files:
        raise DatasetError(
            fields.place,
            "test_patch",
            "touches no file of tests, and there is no eval_script, so that nothing "
            "says what to run; give test_command in the file of --option bases",
        )
    return f"{program} {shlex.join(files)}"


def _test_files(fields: Fields, *, django: bool) -> list[str]:
    """Return what SWE-bench gives to the program: the files of the test patch.

    Where there is none, the files that the ids name.
    """
    files = list(dict.fromkeys(_PATCHED.findall(fields.test_patch)))
    files = [file for file in files if not file.endswith(_NO_TESTS)]
    if not fields.test_patch:
        ids = (*fields.fail_to_pass.tests, *fields.pass_to_pass.tests)
        named = (test.partition("::")[0] for test in ids if "::" in test)
        files = list(dict.fromkeys(named))
    if django:
        # Its program takes modules.
        modules = (file.removesuffix(".py").removeprefix("tests/") for file in files)
        return [module.replace("/", ".") for module in modules]
    return files
