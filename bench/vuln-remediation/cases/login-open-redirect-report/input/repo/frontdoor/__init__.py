"""The login page in front of our services."""

from frontdoor.accounts import Accounts, hash_password
from frontdoor.app import make_app
from frontdoor.redirects import RedirectPolicy
from frontdoor.sessions import Sessions
from frontdoor.settings import Settings, SettingsError

__all__ = [
    "Accounts",
    "RedirectPolicy",
    "Sessions",
    "Settings",
    "SettingsError",
    "hash_password",
    "make_app",
]
