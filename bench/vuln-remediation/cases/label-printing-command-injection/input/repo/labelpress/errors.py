"""The errors of this package."""


class LabelpressError(Exception):
    """Base of all of them."""


class ConfigError(LabelpressError):
    """The printers' configuration does not make sense."""


class OrderError(LabelpressError):
    """An order is incomplete, or asks for what a printer does not offer."""


class PrintFailed(LabelpressError):
    """The printer's command failed."""

    def __init__(self, printer: str, reason: str) -> None:
        super().__init__(f"printing on {printer!r} failed: {reason}")
        self.printer = printer
        self.reason = reason
