"""``prompt.md``: the ordered prompts of a project, read strictly."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from typing import NoReturn

from pytest_codegenie.errors import ProjectError
from pytest_codegenie.harness.foundry.records import PromptMetadata
from pytest_codegenie.harness.foundry.yaml_files import parse_record
from pytest_codegenie.harness.foundry.yaml_files import read_document


#: Opening or closing; a backtick fence's info string has no backtick.
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})[ \t]*(.*?)[ \t]*$")
_HEADING = re.compile(r" {0,3}(#{1,2})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_PROMPT = re.compile(r"P-(\d{3})(?:[ \t]*:[ \t]*(.*))?$")
#: Text that is underlined is a heading too, which nobody sees that looks for ``##``.
_UNDERLINE = re.compile(r" {0,3}-+[ \t]*$")
_METADATA = "yaml metadata"
_FORM = "'## P-001' or '## P-001: title'"


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of the file, and whether it is inside of a fence, or opens or ends one."""

    number: int
    text: str
    fenced: bool
    #: Of a line that opens a fence.
    info: str | None = None


@dataclass(slots=True)
class _Section:
    """A prompt as it stands in the file."""

    number: int
    heading: int
    title: str
    lines: list[_Line]


class PromptLoader:
    """Reads ``prompt.md``.

    Args:
        path: The file, or the project's directory.
    """

    def __init__(self, path: Path | str) -> None:
        path = Path(path)
        self.path = path / "prompt.md" if path.is_dir() else path

    def load(self) -> list[dict[str, Any]]:
        """Return the prompts in order: ``id``, ``content``, ``metadata``.

        The metadata has the keys that the prompt gives, and ``title`` where its heading
        has one. The same file always gives the same list.

        Raises:
            ProjectError: The file is missing or malformed; the error names the line.
        """
        sections = self._sections(list(self._lines()))
        if not sections:
            raise ProjectError(
                self.path, f"has no prompt; one begins with a heading {_FORM}"
            )
        self._check_numbers(sections)
        return [self._prompt(section) for section in sections]

    def _fail(self, line: int, reason: str) -> NoReturn:
        raise ProjectError(self.path, reason, line)

    def _lines(self) -> Iterator[_Line]:
        opened: tuple[str, int] | None = None
        for number, text in enumerate(read_document(self.path).split("\n"), 1):
            found = _FENCE.match(text)
            if opened is None:
                if found is not None:
                    opened = (found[1], number)
                yield _Line(number, text, found is not None, found and found[2])
                continue
            yield _Line(number, text, fenced=True)
            mark = opened[0]
            if found and found[1].startswith(mark) and not found[2]:
                opened = None
        if opened is not None:
            self._fail(opened[1], f"the fence {opened[0]!r} is not closed")

    def _sections(self, lines: list[_Line]) -> list[_Section]:
        sections: list[_Section] = []
        for before, line in zip([None, *lines], lines, strict=False):
            heading = None if line.fenced else _HEADING.match(line.text)
            if heading is not None and len(heading[1]) == 2:
                sections.append(self._section(line, heading[2] or ""))
                continue
            if heading is not None and sections:
                self._fail(
                    line.number,
                    f"a heading of the first level stands below a prompt: "
                    f"{line.text.strip()!r}; use ### and deeper ones in prompts",
                )
            if not line.fenced and before and _is_underlined(before, line):
                self._fail(
                    before.number,
                    f"{before.text.strip()!r} is a heading by the line below it; a "
                    f"prompt begins with {_FORM}, and a rule has a blank line above it",
                )
            if sections:
                sections[-1].lines.append(line)
        return sections

    def _section(self, line: _Line, words: str) -> _Section:
        found = _PROMPT.match(words)
        if found is None:
            self._fail(
                line.number,
                f"{line.text.strip()!r} is no heading of a prompt: those are {_FORM}, "
                "with three digits; use ### and deeper ones within a prompt",
            )
        return _Section(int(found[1]), line.number, (found[2] or "").strip(), [])

    def _check_numbers(self, sections: list[_Section]) -> None:
        seen: dict[int, int] = {}
        for expected, section in enumerate(sections, 1):
            number, line = section.number, section.heading
            if number in seen:
                self._fail(
                    line, f"{_id(number)} stands twice, first in line {seen[number]}"
                )
            if number != expected:
                how = "goes back" if number < expected else "leaves numbers out"
                what = "the first prompt" if expected == 1 else "the next prompt"
                self._fail(
                    line,
                    f"{_id(number)} {how}: {what} has to be {_id(expected)}",
                )
            seen[number] = line

    def _prompt(self, section: _Section) -> dict[str, Any]:
        lines, metadata = self._metadata(section)
        content = "\n".join(line.text for line in _without_blank_ends(lines))
        if not content:
            self._fail(
                section.heading,
                f"{_id(section.number)} is empty: say what the agent is to do",
            )
        title = {"title": section.title} if section.title else {}
        return {
            "id": _id(section.number),
            "content": content,
            "metadata": title | metadata,
        }

    def _metadata(self, section: _Section) -> tuple[list[_Line], dict[str, Any]]:
        """Return the lines below a prompt's metadata, and the metadata."""
        lines = _without_blank_ends(section.lines)
        if not lines or lines[0].info != _METADATA:
            for line in lines:
                if line.info is not None and line.info.startswith(_METADATA):
                    self._fail(
                        line.number,
                        f"a fence {_METADATA!r} has to be the first thing below the "
                        "heading of its prompt, and to be called exactly that",
                    )
            return lines, {}
        end = next(
            index
            for index in range(1, len(lines))
            if index + 1 == len(lines)
            or (_closes(lines[0], lines[index]) and lines[index].fenced)
        )
        text = "\n".join(line.text for line in lines[1:end])
        above = lines[0].number
        record = parse_record(text, PromptMetadata, self.path, above)
        return lines[end + 1 :], record.model_dump(exclude_none=True)


def _id(number: int) -> str:
    return f"P-{number:03}"


def _closes(opening: _Line, line: _Line) -> bool:
    mark, found = _FENCE.match(opening.text), _FENCE.match(line.text)
    return bool(mark and found and found[1].startswith(mark[1]) and not found[2])


def _is_underlined(before: _Line, line: _Line) -> bool:
    if before.fenced or not before.text.strip() or not _UNDERLINE.match(line.text):
        return False
    # A list's or a table's line is none that can be underlined.
    return not before.text.lstrip().startswith(("-", "*", "+", "#", ">", "|"))


def _without_blank_ends(lines: list[_Line]) -> list[_Line]:
    full = [index for index, line in enumerate(lines) if line.text.strip()]
    return lines[full[0] : full[-1] + 1] if full else []
