"""The printers, read from an INI file."""

import configparser
from dataclasses import dataclass

from labelpress.commands import CommandTemplate
from labelpress.errors import ConfigError

_SECTION_PREFIX = "printer "


@dataclass(frozen=True)
class Printer:
    """One printer: its command, and the options that an order may set."""

    name: str
    command: CommandTemplate
    option_names: frozenset[str] = frozenset()


def load_printers(text: str) -> dict[str, Printer]:
    """Read all ``[printer <name>]`` sections.

    Raises:
        ConfigError: There is none, or one has no usable command.
    """
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(text)
    except configparser.Error as error:
        raise ConfigError(str(error)) from error
    printers = {}
    for section in parser.sections():
        if not section.startswith(_SECTION_PREFIX):
            raise ConfigError(f"[{section}]: expected [printer <name>]")
        name = section.removeprefix(_SECTION_PREFIX).strip()
        command = parser.get(section, "command", fallback="")
        option_names = parser.get(section, "options", fallback="").split()
        try:
            template = CommandTemplate(command)
        except ValueError as error:
            raise ConfigError(f"[{section}]: {error}") from error
        printers[name] = Printer(name, template, frozenset(option_names))
    if not printers:
        raise ConfigError("no printer is configured")
    return printers
