"""Serve a folder of built documentation over WSGI."""

from quayside.app import DocsApp
from quayside.config import ConfigError, Settings, load_settings

__all__ = ["ConfigError", "DocsApp", "Settings", "load_settings"]
__version__ = "1.4.0"
