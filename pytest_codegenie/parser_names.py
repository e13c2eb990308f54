"""Names of what reads the output of tests, shared by datasets and evaluators."""

from __future__ import annotations

from collections.abc import Mapping


#: Ours, as ``parser`` in ``expected/tests.toml``.
PARSERS = (
    "ant",
    "cargo",
    "cucumber",
    "django",
    "doctest",
    "googletest",
    "gotest",
    "gradle-custom",
    "jest",
    "jest-json",
    "jq",
    "karma",
    "matplotlib",
    "maven",
    "micropython-test",
    "minitest",
    "phpunit",
    "pytest",
    "pytest-options",
    "pytest-v2",
    "pytest-verbose",
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
