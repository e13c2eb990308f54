"""The syntax in docs/owners-file.md, in more detail."""

from functools import cache
from itertools import product
from string import ascii_letters

import pytest

from stewards import OwnersFileError, Pattern, PatternError, Stewardship

PATTERN_SEGMENTS = ("a", "*", "**", "a*b", "*b*", "?*")
PATH_SEGMENTS = ("a", "ab", "bab")


@cache
def name_matches(pattern, name):
    """Match a name by the definition of ``*`` and ``?``, in the simplest way."""
    if not pattern:
        return not name
    if pattern[0] == "*":
        return any(name_matches(pattern[1:], name[i:]) for i in range(len(name) + 1))
    return (
        bool(name)
        and pattern[0] in ("?", name[0])
        and name_matches(pattern[1:], name[1:])
    )


@cache
def path_matches(pattern, path):
    """The same for a path, given as tuples of names."""
    if not pattern:
        return not path
    if pattern == ("**",):
        return bool(path)
    if pattern[0] == "**":
        return any(path_matches(pattern[1:], path[i:]) for i in range(len(path) + 1))
    return (
        bool(path)
        and name_matches(pattern[0], path[0])
        and path_matches(pattern[1:], path[1:])
    )


def sequences(segments):
    return [s for n in (1, 2, 3) for s in product(segments, repeat=n)]


@pytest.mark.parametrize("prefix", ["/", ""], ids=["anchored", "anywhere"])
def test_agrees_with_the_definition(prefix):
    for segments in sequences(PATTERN_SEGMENTS):
        pattern = Pattern(prefix + "/".join(segments))
        whole = segments if prefix else ("**", *segments)
        for names in sequences(PATH_SEGMENTS):
            path = "/".join(names)
            assert pattern.matches(path) == path_matches(whole, names), (pattern, path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*.py", "a.py.py"),
        ("*.tar.*", "a.tar.tar.gz"),
        ("a*b*c", "abcbc"),
        ("*ab", "aab"),
        ("/a*[0-9]", "a1b2"),
        ("/*?", "abc"),
        ("/**/v*/x", "v1/y/v2/x"),
        ("/**/a/**/b/c", "a/b/a/b/b/c"),
        ("/**", "a"),
        ("/**/**", "a/b"),
        ("/**/**/x", "x"),
        ("a/**/", "a/x/y"),
        ("a/", "b/a/c"),
        ("/*", ".hidden"),
        pytest.param(
            "/" + "*".join(ascii_letters),
            ".x".join(ascii_letters),
            id="many-wildcards",
        ),
        ("/**/a/**/a/**/a/**/a/**/a/**/a", "a/b/a/a/b/a/a/c/a"),
        ("[*?]", "*"),
        ("[!*]", "a"),
        ("[^a]", "^"),
        (r"[\]]", "]"),
        (r"\[a]", "[a]"),
        (r"a\?", "a?"),
        (r"\a", "a"),
        ("a.c", "a.c"),
        ("(a|b)+$", "(a|b)+$"),
        ("*", "line\nbreak"),
        ("?", "\n"),
        ("\u00fc*", "\u00fcber"),
    ],
)
def test_matches(pattern, path):
    assert Pattern(pattern).matches(path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("a*b*c", "acb"),
        ("/a*a", "a"),
        ("/*?", "a/b"),
        ("/a?", "a"),
        ("/a/**", "a"),
        ("/a/**/**", "a"),
        ("/a/*", "a/b/c"),
        ("/a/*/b", "a/b"),
        ("a/**/b", "a/bc"),
        ("a/b", "xa/b"),
        ("a.c", "abc"),
        ("a", "a\n"),
        ("a", "A"),
        ("[^a]", "b"),
        ("[a-c]", "ab"),
        ("/a[!b]c", "a/c"),
        ("/a[.-0]c", "a/c"),
        ("/-*-*-", "--"),
    ],
)
def test_does_not_match(pattern, path):
    assert not Pattern(pattern).matches(path)


def test_class_with_neighbours_of_the_slash_still_matches_them():
    assert Pattern("/a[.-0]c").matches("a.c")
    assert Pattern("/a[.-0]c").matches("a0c")


@pytest.mark.parametrize(
    "text", ["a**b", "/a/***/b", "[", "[]", "[!", "[a-", "x/[b-a]", "//a", "a/b//"]
)
def test_not_a_pattern(text):
    with pytest.raises(PatternError):
        Pattern(text)


def test_escaped_stars_may_stand_side_by_side():
    assert Pattern(r"a\*\*").matches("a**")
    assert Pattern(r"*\**").matches("a*b")
    assert Pattern("*[*]*").matches("a*b")


def test_long_paths():
    deep = "/".join(["directory"] * 400)
    assert Pattern("/directory/**/x?.py").matches(f"{deep}/x1.py")
    assert Pattern("directory/").matches(deep)
    assert not Pattern("/**/nowhere/*").matches(deep)
    assert Pattern("*z").matches("a" * 4000 + "z")
    assert not Pattern("*z").matches("a" * 4000)


@pytest.mark.parametrize(
    "owner",
    [
        "@a",
        "@0",
        "@a-b-c",
        "@acme/a-b",
        "@legacy-",
        "@legacy-/old-",
        "@a-/b",
        pytest.param("@" + "long" * 30, id="long"),
        pytest.param("@" + "a-" * 60, id="many-words"),
        "jo@acme.example",
        "Jo.Doe+x_y-z@mail.Acme.example",
    ],
)
def test_owner(owner):
    assert Stewardship.parse(f"x {owner}").owners_of("x") == (owner,)


@pytest.mark.parametrize(
    "owner",
    [
        "@",
        "@-a",
        "@a--b",
        "@a--",
        "@a/",
        "@/a",
        "@a/-b",
        "@a/b--",
        "@A",
        "@a_b",
        "@@a",
        "@a@b",
        "jo@acme",
        "@acme.example",
        "jo@acme..example",
        "\u00e4@acme.example",
    ],
)
def test_not_an_owner(owner):
    with pytest.raises(OwnersFileError, match="is not an owner"):
        Stewardship.parse(f"x {owner}")
