"""One pytest session with ``--codegenie``."""

from __future__ import annotations

from pytest_codegenie.session.control import start as start
