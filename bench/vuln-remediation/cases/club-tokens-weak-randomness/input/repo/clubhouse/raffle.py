"""Draws that everybody can check.

The result follows from the members and the seed alone. The order in which the
members are given does not matter.
"""

import random
from collections.abc import Iterable, Sequence


def draw(members: Iterable[str], prizes: Sequence[str], seed: str) -> dict[str, str]:
    """Draw a different winner for each prize.

    Returns:
        The winner of each prize, in the order of the prizes.

    Raises:
        ValueError: There are more prizes than members.
    """
    tickets = sorted(set(members))
    if len(prizes) > len(tickets):
        raise ValueError(f"{len(prizes)} prizes for {len(tickets)} members")
    winners = random.Random(seed).sample(tickets, len(prizes))
    return dict(zip(prizes, winners, strict=True))


def split(members: Iterable[str], teams: int, seed: str) -> list[list[str]]:
    """Make teams whose sizes differ by one at most."""
    if teams < 1:
        raise ValueError(f"{teams} teams cannot be made")
    players = sorted(set(members))
    random.Random(seed).shuffle(players)
    return [sorted(players[number::teams]) for number in range(teams)]
