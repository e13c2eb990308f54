import pytest

from stewards import Pattern, PatternError


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*.py", "setup.py"),
        ("*.py", "src/stewards/cli.py"),
        ("/*.py", "setup.py"),
        ("/src/*/cli.py", "src/stewards/cli.py"),
        ("docs/", "docs/a.md"),
        ("docs/", "packages/core/docs/a/b.md"),
        ("/docs/**", "docs/a/b.md"),
        ("/a/**/b", "a/b"),
        ("/a/**/b", "a/x/y/b"),
        ("**/test_*", "tests/unit/test_cli.py"),
        ("v?.txt", "v1.txt"),
        ("[a-c]x", "bx"),
        ("[!a-c]x", "dx"),
        ("[]a]", "]"),
        ("[a-]", "-"),
        (r"\*.py", "*.py"),
        (r"a\ b", "a b"),
    ],
)
def test_matches(pattern, path):
    assert Pattern(pattern).matches(path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*.py", "setup.pyc"),
        ("*.py", "SETUP.PY"),
        ("/*.py", "src/setup.py"),
        ("docs/", "docs"),
        ("/docs/", "packages/docs/a.md"),
        ("/a/**/b", "a/xb"),
        ("v?.txt", "v/.txt"),
        ("[!a]x", "/x"),
        ("[a-c]x", "dx"),
        (r"\*.py", "a.py"),
    ],
)
def test_does_not_match(pattern, path):
    assert not Pattern(pattern).matches(path)


@pytest.mark.parametrize(
    "text", ["", "/", "//", "a//b", "a**", "**b", "/***", "[a", "[z-a]", "a\\"]
)
def test_not_a_pattern(text):
    with pytest.raises(PatternError):
        Pattern(text)
