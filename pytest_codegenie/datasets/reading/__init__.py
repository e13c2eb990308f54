"""Files that hold rows, one module for each kind."""

from __future__ import annotations
