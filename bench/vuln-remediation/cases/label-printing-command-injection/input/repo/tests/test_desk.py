import json

import pytest

from labelpress import (
    LabelDesk,
    OrderError,
    PrintFailed,
    load_printers,
    parse_order,
)

CONFIG = r"""
[printer front]
command = printf '<%s>' -n {copies} -t {title} {options}; cat {path} > printed
options = media darkness

[printer back]
command = cat {path} | wc -l

[printer broken]
command = echo out of paper >&2; test -d {path}
"""


@pytest.fixture
def desk(tmp_path):
    return LabelDesk(load_printers(CONFIG), tmp_path)


def order(**fields):
    document = {
        "id": "A-1001",
        "recipient": "Jane Doe",
        "address": ["12 Mill Lane", "Leeds"],
    }
    return parse_order(json.dumps(document | fields))


def test_label_is_handed_to_the_command(desk, tmp_path):
    job = desk.print_order(order(), printer="front")
    assert job.output == "<-n><1><-t><Jane Doe #A-1001>"
    assert (tmp_path / "printed").read_text() == job.path.read_text()


def test_options_in_the_order_of_names(desk):
    options = {"media": "a6", "darkness": "12"}
    job = desk.print_order(order(copies=3, options=options), printer="front")
    assert job.output.startswith("<-n><3>")
    assert job.output.endswith("<-o><darkness=12><-o><media=a6>")


def test_name_with_quotes(desk):
    job = desk.print_order(order(recipient='The "Corner" Shop'), printer="front")
    assert '<The "Corner" Shop #A-1001>' in job.output


def test_command_may_be_a_pipeline(desk):
    assert desk.print_order(order(), printer="back").output.strip() == "6"


def test_failure_says_why(desk):
    with pytest.raises(PrintFailed, match="out of paper"):
        desk.print_order(order(), printer="broken")


def test_unknown_printer(desk):
    with pytest.raises(OrderError, match="back, broken, front"):
        desk.print_order(order(), printer="attic")


def test_option_that_a_printer_does_not_have(desk):
    with pytest.raises(OrderError, match="darkness"):
        desk.print_order(order(options={"darkness": "3"}), printer="back")
