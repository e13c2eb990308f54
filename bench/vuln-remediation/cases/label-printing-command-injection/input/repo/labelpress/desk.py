"""The desk: takes an order, prints its label."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from labelpress import shell
from labelpress.config import Printer
from labelpress.errors import OrderError, PrintFailed
from labelpress.orders import Order
from labelpress.zpl import render_label

COMMAND_TIMEOUT_SECONDS = 60


@dataclass(frozen=True)
class PrintJob:
    """A label that was handed to a printer, and what the command had to say."""

    order_id: str
    printer: str
    path: Path
    output: str


class LabelDesk:
    """Prints labels on a set of printers."""

    def __init__(self, printers: Mapping[str, Printer], spool_dir: Path) -> None:
        self._printers = dict(printers)
        self._spool_dir = spool_dir

    def print_order(self, order: Order, *, printer: str) -> PrintJob:
        """Write the label of an order into the spool directory and print it.

        Raises:
            OrderError: There is no such printer, or it does not have an option.
            PrintFailed: The command failed or took too long.
        """
        target = self._printers.get(printer)
        if target is None:
            known = ", ".join(sorted(self._printers))
            raise OrderError(f"no printer {printer!r} (there are: {known})")
        refused = sorted(set(order.options) - target.option_names)
        if refused:
            raise OrderError(f"printer {printer!r} has no option {refused[0]!r}")

        path = self._spool_dir / f"{order.order_id}.zpl"
        path.write_text(render_label(order), encoding="utf-8")
        command = target.command.render(
            path=path, title=order.title, copies=order.copies, options=order.options
        )
        completed = shell.run(
            command, cwd=self._spool_dir, timeout_seconds=COMMAND_TIMEOUT_SECONDS
        )
        if completed.exit_code != 0:
            raise PrintFailed(printer, completed.stderr.strip() or "no message")
        return PrintJob(order.order_id, printer, path, completed.stdout)
