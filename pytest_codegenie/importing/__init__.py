"""From drafts of cases to signed case directories."""

from __future__ import annotations
