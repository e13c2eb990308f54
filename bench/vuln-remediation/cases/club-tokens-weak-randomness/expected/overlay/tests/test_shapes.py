"""What is mailed looks as ever, and draws can still be checked."""

import random
import re

import pytest

from clubhouse import draw, split

PASSWORD = "correct horse"
ANN = "ann@example.org"
EVE = "eve@example.org"
MEMBERS = ["ann", "bob", "cyd", "dan", "eve", "fay", "gil", "hal", "ida", "jon"]


def test_tokens(club, mailed):
    tokens = []
    for _ in range(200):
        club.resets.request(ANN)
        tokens.append(mailed(ANN))
    assert all(re.fullmatch("[0-9a-f]{32}", token) for token in tokens)
    assert len(set(tokens)) == 200
    # Each digit carries its share.
    assert all(len(set(column)) > 8 for column in zip(*tokens, strict=True))


def test_pins(club, mailed):
    pins = []
    for _ in range(500):
        club.sign_in.start(ANN, PASSWORD)
        pins.append(mailed(ANN))
    assert all(re.fullmatch("[0-9]{6}", pin) for pin in pins)
    # Zeros in front included.
    assert all(len(set(column)) == 10 for column in zip(*pins, strict=True))


def test_codes(club, clock):
    codes = []
    for _ in range(400):
        codes.append(club.invites.send(EVE))
        clock.advance(seconds=90)
    assert all(re.fullmatch("[^-]{5}-[^-]{5}", code) for code in codes)
    letters = set("".join(codes)) - {"-"}
    assert letters == set("23456789ABCDEFGHJKMNPQRSTUVWXYZ")
    assert len(set(codes)) == 400


def test_all_open_invitations_can_be_redeemed(club, clock):
    addresses = [f"guest{number}@example.org" for number in range(20)]
    codes = {}
    for address in addresses:
        codes[address] = club.invites.send(address)
        clock.advance(minutes=3)
    for address in reversed(addresses):
        club.invites.redeem(codes[address], address, PASSWORD)
    assert set(addresses) < set(club.members.addresses())


@pytest.mark.parametrize(
    ("seed", "winners"),
    [
        ("summer 2026", ["ann", "ida", "gil", "jon"]),
        ("summer 2025", ["gil", "bob", "dan", "eve"]),
        ("", ["hal", "dan", "gil", "jon"]),
    ],
    ids=["2026", "2025", "empty"],
)
def test_published_draws(seed, winners):
    prizes = ["bike", "ball", "book", "hat"]
    assert list(draw(MEMBERS, prizes, seed).values()) == winners


def test_published_teams():
    assert split(MEMBERS, 3, "cup 2026") == [
        ["ann", "bob", "eve", "ida"],
        ["cyd", "fay", "gil"],
        ["dan", "hal", "jon"],
    ]


def test_draws_do_not_depend_on_the_shared_generator():
    before = random.getstate()
    results = []
    for seed in (1, 2):
        random.seed(seed)
        results.append((draw(MEMBERS, ["bike"], "x"), split(MEMBERS, 2, "x")))
    random.setstate(before)
    assert results[0] == results[1]


def test_draws_differ_between_seeds():
    winners = {draw(MEMBERS, ["bike"], f"year {n}")["bike"] for n in range(100)}
    assert winners == set(MEMBERS)
