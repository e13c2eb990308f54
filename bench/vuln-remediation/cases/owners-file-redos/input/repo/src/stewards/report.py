"""Who has to look at a change."""

from collections.abc import Iterable
from dataclasses import dataclass

from stewards.stewardship import Stewardship


@dataclass(frozen=True)
class Report:
    """The changed paths by owner, and those which nobody owns."""

    by_owner: dict[str, tuple[str, ...]]
    unowned: tuple[str, ...]

    def lines(self) -> list[str]:
        """Return the report as text, owners in alphabetical order."""
        lines = [
            f"{owner}: {len(paths)} file{'s' if len(paths) != 1 else ''}"
            for owner, paths in sorted(self.by_owner.items())
        ]
        lines += [f"nobody: {path}" for path in self.unowned]
        return lines


def summarise(stewardship: Stewardship, paths: Iterable[str]) -> Report:
    """Sort the paths of a change by owner."""
    by_owner: dict[str, list[str]] = {}
    unowned = []
    for path in paths:
        owners = stewardship.owners_of(path)
        for owner in owners:
            by_owner.setdefault(owner, []).append(path)
        if not owners:
            unowned.append(path)
    return Report(
        {owner: tuple(owned) for owner, owned in by_owner.items()}, tuple(unowned)
    )
