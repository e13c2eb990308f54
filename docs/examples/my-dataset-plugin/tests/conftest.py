"""Sessions of pytest in directories of their own."""

from __future__ import annotations


pytest_plugins = ["pytester"]
