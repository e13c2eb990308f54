"""OWNERS files: rules, and who owns a path by them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from stewards.errors import OwnersFileError, PatternError
from stewards.owners import is_owner
from stewards.patterns import Pattern


@dataclass(frozen=True)
class Rule:
    """One line of an OWNERS file."""

    line_number: int
    pattern: Pattern
    owners: tuple[str, ...]


class Stewardship:
    """The rules of one repository, in the order of the file."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._rules = tuple(rules)

    @classmethod
    def parse(cls, text: str) -> "Stewardship":
        """Read an OWNERS file.

        Raises:
            OwnersFileError: The first line that cannot be read.
        """
        return cls(_parse_rules(text))

    def rule_for(self, path: str) -> Rule | None:
        """Return the last rule that matches a path, or None."""
        for rule in reversed(self._rules):
            if rule.pattern.matches(path):
                return rule
        return None

    def owners_of(self, path: str) -> tuple[str, ...]:
        """Return the owners of a path in the order of the file; it may have none."""
        rule = self.rule_for(path)
        return () if rule is None else rule.owners


def _parse_rules(text: str) -> Iterator[Rule]:
    for line_number, line in enumerate(text.splitlines(), start=1):
        words = _words(line)
        if not words or words[0].startswith("#"):
            continue
        pattern_text, *owners = words
        if not owners:
            raise OwnersFileError(line_number, f"{pattern_text!r} has no owner")
        for owner in owners:
            if not is_owner(owner):
                raise OwnersFileError(line_number, f"{owner!r} is not an owner")
        try:
            pattern = Pattern(pattern_text)
        except PatternError as error:
            raise OwnersFileError(line_number, str(error)) from error
        yield Rule(line_number, pattern, tuple(owners))


def _words(line: str) -> list[str]:
    """Split a line at white space that has no backslash before it."""
    words = [""]
    characters = iter(line)
    for character in characters:
        if character == "\\":
            words[-1] += character + next(characters, "")
        elif character.isspace():
            words.append("")
        else:
            words[-1] += character
    return [word for word in words if word]
