import json

import pytest

from labelpress import OrderError, parse_order
from labelpress.zpl import render_label

ORDER = {"id": "A-1001", "recipient": "Jane Doe", "address": ["12 Mill Lane"]}


def test_label_shows_recipient_address_and_bar_code():
    label = render_label(parse_order(json.dumps(ORDER)))
    assert "^FDJane Doe^FS" in label
    assert "^FD12 Mill Lane^FS" in label
    assert "^BCN,80^FDA-1001^FS" in label


def test_label_escapes_what_zpl_would_take_for_commands():
    label = render_label(parse_order(json.dumps(ORDER | {"recipient": "^XZ~"})))
    assert "_5EXZ_7E" in label


@pytest.mark.parametrize(
    "change",
    [
        {"id": "../1"},
        {"id": "a1"},
        {"recipient": " "},
        {"address": "Leeds"},
        {"copies": 0},
        {"copies": True},
        {"options": {"media": 3}},
    ],
    ids=lambda change: next(iter(change)),
)
def test_unusable_order(change):
    with pytest.raises(OrderError):
        parse_order(json.dumps(ORDER | change))
