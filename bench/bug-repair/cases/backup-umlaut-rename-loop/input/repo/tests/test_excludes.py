import pytest

from driftmap import Excludes


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("*.tmp", "a/b/c.tmp", True),
        ("*.tmp", "a/b.tmp/c", True),
        ("*.tmp", "a/b/c.txt", False),
        ("cache/", "a/cache/b", True),
        ("cache/", "a/cache", False),
        ("/build", "build/a.o", True),
        ("/build", "src/build/a.o", False),
        ("docs/*.pdf", "docs/a.pdf", True),
        ("docs/*.pdf", "old/docs/a.pdf", False),
    ],
)
def test_match(pattern, path, expected):
    assert Excludes([pattern]).match(path) is expected


def test_comments_and_blank_lines_are_no_patterns():
    excludes = Excludes.from_text("# scratch files\n\n*.tmp\n")
    assert excludes.match("a.tmp")
    assert not excludes.match("# scratch files")
