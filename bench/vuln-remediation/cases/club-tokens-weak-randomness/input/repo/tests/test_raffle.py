import pytest

from clubhouse import draw, split

MEMBERS = ["ann", "bob", "cyd", "dan", "eve", "fay", "gil"]


def test_draw_can_be_repeated():
    result = draw(MEMBERS, ["bike", "ball"], "summer 2026")
    assert list(result) == ["bike", "ball"]
    assert len(set(result.values())) == 2
    assert draw(reversed(MEMBERS), ["bike", "ball"], "summer 2026") == result


def test_too_many_prizes():
    with pytest.raises(ValueError, match="8 prizes for 7 members"):
        draw(MEMBERS, list("abcdefgh"), "summer 2026")


def test_teams():
    teams = split(MEMBERS, 3, "cup 2026")
    assert sorted(len(team) for team in teams) == [2, 2, 3]
    assert sorted(sum(teams, [])) == MEMBERS
    assert split(MEMBERS, 3, "cup 2026") == teams
