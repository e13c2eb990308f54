"""Count, mean and spread of a stream of values, in constant memory."""

from __future__ import annotations

import math
from collections.abc import Iterable


class Moments:
    """What a window remembers of its values.

    Values are added one at a time and not kept. Two ``Moments`` can be merged;
    the order in which values and parts arrive does not matter.
    """

    __slots__ = ("_count", "_high", "_low", "_sum", "_sum_of_squares")

    def __init__(self) -> None:
        self._count = 0
        self._sum = 0.0
        self._sum_of_squares = 0.0
        self._low = math.inf
        self._high = -math.inf

    @classmethod
    def of(cls, values: Iterable[float]) -> Moments:
        """Return the moments of ``values``."""
        moments = cls()
        for value in values:
            moments.add(value)
        return moments

    def add(self, value: float) -> None:
        """Take one more value into account.

        Raises:
            ValueError: The value is infinite or not a number.
        """
        if not math.isfinite(value):
            raise ValueError(f"cannot add {value!r}: not a finite number")
        self._count += 1
        self._sum += value
        self._sum_of_squares += value * value
        self._low = min(self._low, value)
        self._high = max(self._high, value)

    def merge(self, other: Moments) -> Moments:
        """Return the moments of the values of both; neither is changed."""
        merged = Moments()
        merged._count = self._count + other._count
        merged._sum = self._sum + other._sum
        merged._sum_of_squares = self._sum_of_squares + other._sum_of_squares
        merged._low = min(self._low, other._low)
        merged._high = max(self._high, other._high)
        return merged

    @property
    def count(self) -> int:
        """How many values were added."""
        return self._count

    @property
    def mean(self) -> float | None:
        """The arithmetic mean, ``None`` without values."""
        return self._sum / self._count if self._count else None

    @property
    def low(self) -> float | None:
        """The smallest value, ``None`` without values."""
        return self._low if self._count else None

    @property
    def high(self) -> float | None:
        """The largest value, ``None`` without values."""
        return self._high if self._count else None

    @property
    def variance(self) -> float | None:
        """The sample variance, ``None`` for fewer than two values."""
        if self._count < 2:
            return None
        squares = self._sum_of_squares - self._sum * self._sum / self._count
        return squares / (self._count - 1)

    @property
    def stdev(self) -> float | None:
        """The sample standard deviation, ``None`` for fewer than two values."""
        variance = self.variance
        return None if variance is None else math.sqrt(variance)

    def __repr__(self) -> str:
        return f"<Moments count={self.count} mean={self.mean} stdev={self.stdev}>"
