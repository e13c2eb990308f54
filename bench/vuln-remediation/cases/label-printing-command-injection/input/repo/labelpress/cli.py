"""``labelpress PRINTERS.INI PRINTER < order.json``."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from labelpress.config import load_printers
from labelpress.desk import LabelDesk
from labelpress.errors import LabelpressError
from labelpress.orders import parse_order


def main(argv: Sequence[str] | None = None) -> int:
    """Print one order; 0 when it was handed over, 1 when it was not."""
    parser = argparse.ArgumentParser(prog="labelpress", description=__doc__)
    parser.add_argument("config", type=Path)
    parser.add_argument("printer")
    parser.add_argument("--spool", type=Path, default=Path("spool"))
    arguments = parser.parse_args(argv)
    try:
        printers = load_printers(arguments.config.read_text(encoding="utf-8"))
        arguments.spool.mkdir(parents=True, exist_ok=True)
        desk = LabelDesk(printers, arguments.spool.resolve())
        job = desk.print_order(
            parse_order(sys.stdin.buffer.read()), printer=arguments.printer
        )
    except (LabelpressError, OSError) as error:
        print(f"labelpress: {error}", file=sys.stderr)
        return 1
    print(f"{job.order_id} -> {job.printer}")
    return 0
