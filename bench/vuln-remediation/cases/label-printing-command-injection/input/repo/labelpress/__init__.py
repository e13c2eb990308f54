"""Print shipping labels through commands that an operator configures."""

from labelpress.config import Printer, load_printers
from labelpress.desk import LabelDesk, PrintJob
from labelpress.errors import ConfigError, LabelpressError, OrderError, PrintFailed
from labelpress.orders import Order, parse_order

__all__ = [
    "ConfigError",
    "LabelDesk",
    "LabelpressError",
    "Order",
    "OrderError",
    "PrintFailed",
    "PrintJob",
    "Printer",
    "load_printers",
    "parse_order",
]
