"""The canonical bytes of a value: what digests of records are made of.

JSON in UTF-8 on one line: the keys of every object sorted by their code points, no
space, no escape where JSON needs none, numbers as Python writes them (an integer by its
digits, a float by the shortest text that reads back as the same float, ``1.0`` with its
point), and neither NaN nor an infinity. This is close to RFC 8785 and not the same:
that sorts by UTF-16, and writes ``1.0`` as ``1`` and ``1e-07`` as ``1e-7``.

``tests/data/audit/canonical.json`` pins the bytes.
"""

from __future__ import annotations

import json
from typing import Any


def canonical_json(value: Any) -> bytes:
    """Return the canonical bytes of a value made of what JSON has.

    Raises:
        ValueError: NaN, an infinity, or text that is no Unicode is in it.
        TypeError: Something else that JSON has not is in it.
    """
    return json.dumps(
        value,
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
        allow_nan=False,
    ).encode()
