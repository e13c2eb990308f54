"""Settings, read from an INI file."""

import configparser
from dataclasses import dataclass

from frontdoor.redirects import RedirectPolicy


class SettingsError(Exception):
    """The settings do not make sense."""


@dataclass(frozen=True)
class Settings:
    """All settings of the application."""

    redirects: RedirectPolicy
    cookie_name: str = "frontdoor"

    @classmethod
    def parse(cls, text: str) -> "Settings":
        """Read settings.

        Raises:
            SettingsError: The text cannot be read, or a value makes no sense.
        """
        parser = configparser.ConfigParser(interpolation=None)
        try:
            parser.read_string(text)
        except configparser.Error as error:
            raise SettingsError(str(error)) from error
        hosts = parser.get("redirects", "hosts", fallback="").split()
        default = parser.get("redirects", "default", fallback="/")
        try:
            policy = RedirectPolicy(hosts, default=default)
        except ValueError as error:
            raise SettingsError(f"[redirects]: {error}") from error
        cookie_name = parser.get("session", "cookie", fallback="frontdoor")
        return cls(policy, cookie_name)
