"""Labels in ZPL, the language of the printers."""

from labelpress.orders import Order

_LINE_HEIGHT = 40
_LEFT, _TOP = 30, 30


def render_label(order: Order) -> str:
    """Return the label of an order: recipient, address and a bar code."""
    lines = [order.recipient, *order.address]
    fields = [
        f"^FO{_LEFT},{_TOP + index * _LINE_HEIGHT}^A0N,32^FH_^FD{_escape(line)}^FS"
        for index, line in enumerate(lines)
    ]
    bar_code_at = _TOP + len(lines) * _LINE_HEIGHT + 20
    fields.append(f"^FO{_LEFT},{bar_code_at}^BCN,80^FD{order.order_id}^FS")
    return "\n".join(["^XA^CI28", *fields, "^XZ", ""])


def _escape(text: str) -> str:
    """Write what ZPL would take for commands in hexadecimal (``^FH_``)."""
    return "".join(f"_{ord(c):02X}" if c in "^~_" else c for c in text)
