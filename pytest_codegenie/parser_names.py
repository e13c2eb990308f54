"""Names of what reads the output of tests, shared by datasets and evaluators."""

from __future__ import annotations

from collections.abc import Mapping


#: Ours, as ``parser`` in ``expected/tests.toml``.
PARSERS = (
    "ant",
    "bpmn-js",
    "calypso",
    "carbon",
    "cargo",
    "chart-js",
    "cucumber",
    "django",
    "doctest",
    "eslint",
    "googletest",
    "gotest",
    "gradle-custom",
    "grommet",
    "highlightjs",
    "jest",
    "jest-json",
    "jq",
    "karma",
    "lighthouse-json",
    "lighthouse-mocha",
    "marked",
    "matplotlib",
    "maven",
    "micropython-test",
    "minitest",
    "next-v1",
    "next-v2",
    "openlayers",
    "p5js",
    "phpunit",
    "prismjs",
    "pytest",
    "pytest-options",
    "pytest-v2",
    "pytest-verbose",
    "quarto-cli",
    "redis",
    "rspec-transformed-json",
    "ruby-unit",
    "seaborn",
    "sympy",
    "tap",
    "vitest",
)
#: SWE-bench's names, without ``parse_log_``, to ours, where they differ.
ALIASES: Mapping[str, str] = {
    "astroid": "pytest",
    "astropy": "pytest-v2",
    "flask": "pytest",
    "marshmallow": "pytest",
    "pvlib": "pytest",
    "pydicom": "pytest-options",
    "pylint": "pytest-options",
    "pyvista": "pytest",
    "react_pdf": "carbon",
    "requests": "pytest-options",
    "scikit": "pytest-v2",
    "sphinx": "pytest-v2",
    "sqlfluff": "pytest",
    "xarray": "pytest",
}
#: Every name to ours, SWE-bench's own (``parse_log_flask``) among them.
PARSER_NAMES: Mapping[str, str] = {
    **{name: name for name in PARSERS},
    **{f"parse_log_{name.replace('-', '_')}": name for name in PARSERS},
    **{f"parse_log_{name}": ours for name, ours in ALIASES.items()},
}
