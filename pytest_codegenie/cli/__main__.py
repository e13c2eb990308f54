"""``python -m pytest_codegenie.cli``."""

from __future__ import annotations

import sys

from pytest_codegenie.cli.main import main


if __name__ == "__main__":
    sys.exit(main())
