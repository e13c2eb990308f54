"""From the query string of a request to a search."""

from urllib.parse import parse_qs

from stockroom.errors import SearchError
from stockroom.models import Query


def parse_query(query_string: str) -> Query:
    """Read the parameters that the README lists; others are ignored.

    Raises:
        SearchError: ``max`` or ``page`` is not a number that makes sense.
    """
    values = parse_qs(query_string)
    return Query(
        text=_last(values, "q", ""),
        categories=tuple(values.get("category", ())),
        supplier=_last(values, "supplier", None),
        max_quantity=_number(values, "max", None, least=0),
        sort=_last(values, "sort", "sku"),
        page=_number(values, "page", 1, least=1),
    )


def _last(values: dict[str, list[str]], key: str, default):
    return values.get(key, [default])[-1]


def _number(values: dict[str, list[str]], key: str, default, *, least: int):
    text = _last(values, key, None)
    if text is None:
        return default
    try:
        number = int(text)
    except ValueError:
        raise SearchError(f"{key} must be a number, not {text!r}") from None
    if number < least:
        raise SearchError(f"{key} must be at least {least}, not {number}")
    return number
