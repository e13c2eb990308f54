"""Whether an answer is right, as Inspect's scorers decide; runs in the workspace.

``match``, ``includes``, ``exact`` and ``choice`` of Inspect 0.3. Of numbers, digits of
any script, ``½`` and a true minus sign are read; not Chinese numerals and exponents
that are superscripts.
"""

from __future__ import annotations

import math
import re
import string
import unicodedata


_TRIMMED = "!?:;()[]{}'\"`"
#: In a number: thousands are set apart.
_GAP = re.compile(r"(?<=\d)\s(?=\d)")
_ANSWER_LINE = re.compile(r"(?im)^ANSWER\s*:\s*([A-Za-z\d ,]+)\s*(?:$|\n|\.)")
_ANSWER_ANYWHERE = re.compile(r"(?i)ANSWER\s*:\s*([A-Za-z\d ,]+)(?:[^\w]|\n|$|\.)")


def is_right(
    answer: str,
    scorer: str,
    targets: list[str],
    *,
    choices: int = 0,
    location: str = "end",
    ignore_case: bool = True,
    numeric: bool = False,
    multiple: bool = False,
) -> bool:
    """Say whether an answer is right by one of the targets, or all that are asked."""
    if scorer == "choice":
        return chosen(answer, choices, multiple=multiple) == asked(targets)
    if scorer == "includes":
        return any(_includes(answer, target, ignore_case) for target in targets)
    if scorer == "exact":
        wanted = [normalized(target) for target in targets]
        return normalized(answer) in [target for target in wanted if target]
    return any(
        _match(answer, target, location, ignore_case, numeric) for target in targets
    )


def _includes(answer: str, target: str, ignore_case: bool) -> bool:
    if ignore_case:
        return target.casefold() in answer.casefold()
    return target in answer


def _match(
    answer: str, target: str, location: str, ignore_case: bool, numeric: bool
) -> bool:
    """Say whether an answer begins or ends with a target, has it in it, or is it."""
    answer, target = answer.strip(), target.strip()
    if ignore_case:
        answer, target = answer.casefold(), target.casefold()
    if numeric:
        target = _without_currency(target)
        wanted = number(target)
        if wanted is not None:
            return _matches_number(_without_currency(answer), wanted, location)
    answer, target = _bare(answer), _bare(target)
    if location == "begin":
        return answer.startswith(target)
    if location == "end":
        return answer.endswith(target)
    return answer == target if location == "exact" else target in answer


def _matches_number(answer: str, target: float, location: str) -> bool:
    if location == "exact":
        value = number(answer, trim=False)
        return value is not None and _shown(value) == _shown(target)
    values = [number(word) for word in answer.split()]
    found = [_shown(value) for value in values if value is not None]
    if location == "any":
        return _shown(target) in found
    place = 0 if location == "begin" else -1
    return bool(found) and found[place] == _shown(target)


def number(text: str, *, trim: bool = True) -> float | None:
    """Return a number, if a text is one and finite; else None."""
    text = text.strip(_TRIMMED) if trim else text
    for read in (float, _unicode_number):
        try:
            value = read(text)
        except ValueError:
            continue
        if math.isfinite(value):
            return value
    return None


def _unicode_number(text: str) -> float:
    text = text.strip().replace("\N{MINUS SIGN}", "-")
    text = _GAP.sub("", text)
    sign = -1.0 if text.startswith("-") else 1.0
    whole, last = text.lstrip("+-")[:-1], text[-1:]
    part = unicodedata.numeric(last, None) if last else None
    if part is None or last.isdigit():
        return float(text)
    return sign * ((float(whole) if whole else 0.0) + part)


def _shown(value: float) -> str:
    return format(value, ".5g")


def _bare(text: str) -> str:
    return text.strip(string.whitespace + string.punctuation)


def _without_currency(text: str) -> str:
    text = re.sub(r"\\([$,£€*_])", r"\1", text)
    text = re.sub(r"[$,£€*_]", "", text)
    return re.sub(r"\.(?=\s|$|\D)", "", text)


def normalized(text: str) -> str:
    """Return a text without case, punctuation and articles; SQuAD's rule."""
    tokens = (_token(token.casefold()) for token in re.split(" |-", text))
    return " ".join(token for token in tokens if token)


def _token(token: str) -> str:
    if _finite(token) is None:
        inner = _bare(token)
        if _finite(inner) is not None:
            token = inner
        else:
            token = "".join(char for char in token if char not in string.punctuation)
    if _finite(token) is not None:
        token = str(float(token))
    token = re.sub(r"\b(a|an|the)\b", " ", token)
    return " ".join(token.split())


def _finite(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def chosen(answer: str, choices: int, *, multiple: bool) -> list[int]:
    """Return the positions that ``ANSWER: A`` names; empty where it names none."""
    text = re.sub(r"\$\s*([A-Za-z\d][A-Za-z\d ,]*?)\s*\$", r"\1", answer)
    text = re.sub(r"\*\*\s*([A-Za-z\d][A-Za-z\d ,]*?)\s*\*\*", r"\1", text)
    text = re.sub(
        r"(?i)(^|[:,])(\s*)\(([A-Za-z\d])\)(?=\s*(?:,|\.|\n|\Z))", r"\1\2\3", text
    )
    found = _ANSWER_LINE.findall(text) or _ANSWER_ANYWHERE.findall(text)
    if not found:
        return []
    told = found[-1].strip().rstrip(".").upper()
    allowed = [letter(position) for position in range(choices)]
    return sorted(allowed.index(one) for one in _letters(told, allowed, multiple))


def _letters(told: str, allowed: list[str], multiple: bool) -> set[str]:
    if not multiple:
        single = [token for token in told.split(",") if token]
        return set(single) if len(single) == 1 and single[0] in allowed else set()
    told = told.replace(" AND ", ",").replace(" ", "")
    for letters in ({token for token in told.split(",") if token}, set(told)):
        if letters.issubset(allowed):
            return letters
    return set()


def letter(position: int) -> str:
    """Return what a choice is called: A to Z, then 1, 2, ..."""
    return chr(ord("A") + position) if position < 26 else str(position - 25)


def asked(targets: list[str]) -> list[int]:
    """Return the positions that targets such as ``A`` or ``A,C`` name.

    Raises:
        ValueError: One names none.
    """
    positions = []
    for token in " ".join(targets).replace(",", " ").split():
        for name in [token] if token.isnumeric() else token:
            if len(name) == 1 and name.isalpha():
                positions.append(ord(name.upper()) - ord("A"))
            elif name.isnumeric() and int(name) > 0:
                positions.append(25 + int(name))
            else:
                raise ValueError(f"{name!r} is no choice's letter")
    return sorted(positions)
