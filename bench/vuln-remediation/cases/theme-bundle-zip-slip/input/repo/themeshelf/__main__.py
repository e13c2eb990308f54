"""``python -m themeshelf``."""

import sys

from themeshelf.cli import main

sys.exit(main())
