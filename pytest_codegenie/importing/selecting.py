"""Which instances of a dataset are imported."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from fnmatch import fnmatchcase

from pytest_codegenie.datasets import Instance
from pytest_codegenie.datasets import case_id_of
from pytest_codegenie.errors import ConfigError
from pytest_codegenie.errors import did_you_mean


class Selection:
    """Chooses instances by shell patterns over their ids, and a number of them."""

    def __init__(self, patterns: Sequence[str] = (), limit: int | None = None) -> None:
        """Choose.

        Args:
            patterns: Over ids, as the dataset has them and as case ids; none: all.
            limit: At most so many; None: all.
        """
        self._limit = limit
        self._unmatched = dict.fromkeys(patterns)
        self._patterns = tuple(patterns)
        self._ids: list[str] = []
        self._whole = False

    def among(self, instances: Iterable[Instance]) -> Iterator[Instance]:
        """Yield the chosen ones, in their order; read no more than it takes."""
        taken = 0
        for instance in instances:
            if not self._matches(instance):
                continue
            yield instance
            taken += 1
            if taken == self._limit:
                return
        self._whole = True

    def refuse_unmatched(self) -> None:
        """Refuse patterns that chose nothing, once all was looked at.

        Raises:
            ConfigError: One chose nothing; the error names near ids.
        """
        if not (self._whole and self._unmatched):
            return
        pattern = next(iter(self._unmatched))
        others = len(self._unmatched) - 1
        more = f" (nor do {others} other patterns)" if others else ""
        raise ConfigError(
            "--select",
            "",
            f"{pattern!r} matches none of {len(self._ids)} instances{more}"
            f"{did_you_mean(pattern, self._ids)}; patterns are those of a shell, over "
            f"whole ids{self._examples()}",
        )

    def _matches(self, instance: Instance) -> bool:
        if not self._patterns:
            return True
        names = (instance.instance_id, case_id_of(instance.instance_id))
        self._ids.append(names[0])
        matching = [
            pattern
            for pattern in self._patterns
            if any(fnmatchcase(name, pattern) for name in names)
        ]
        for pattern in matching:
            self._unmatched.pop(pattern, None)
        return bool(matching)

    def _examples(self) -> str:
        return f", such as {self._ids[0]!r}" if self._ids else ""
