"""Orders, as the shop posts them."""

import json
import re
from dataclasses import dataclass, field

from labelpress.errors import OrderError

MAX_COPIES = 20
_ORDER_ID = re.compile(r"[A-Z0-9]+(-[A-Z0-9]+)*")


@dataclass(frozen=True)
class Order:
    """What goes on a label, and how often it is wanted."""

    order_id: str
    recipient: str
    address: tuple[str, ...]
    copies: int = 1
    options: dict[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return f"{self.recipient} #{self.order_id}"


def parse_order(document: str | bytes) -> Order:
    """Read an order from JSON.

    Raises:
        OrderError: A field is missing or of the wrong type.
    """
    try:
        fields = json.loads(document)
    except ValueError as error:
        raise OrderError(f"the order is not JSON: {error}") from error
    if not isinstance(fields, dict):
        raise OrderError("the order is not a JSON object")
    order_id = _text(fields, "id")
    if not _ORDER_ID.fullmatch(order_id):
        raise OrderError(f"{order_id!r} is not an order id")
    address = fields.get("address")
    if not isinstance(address, list) or not all(isinstance(x, str) for x in address):
        raise OrderError("'address' is not a list of lines")
    copies = fields.get("copies", 1)
    if type(copies) is not int or not 1 <= copies <= MAX_COPIES:
        raise OrderError(f"'copies' is not a number from 1 to {MAX_COPIES}")
    options = fields.get("options", {})
    if not isinstance(options, dict):
        raise OrderError("'options' is not a JSON object")
    return Order(
        order_id=order_id,
        recipient=_text(fields, "recipient"),
        address=tuple(address),
        copies=copies,
        options={name: _text(options, name) for name in options},
    )


def _text(fields: dict[str, object], name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str) or not value.strip():
        raise OrderError(f"{name!r} is missing or is not a text")
    if "\0" in value:
        raise OrderError(f"{name!r} has a NUL in it")
    return value
