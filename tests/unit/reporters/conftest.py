"""What reports need before any session runs in this process."""

from __future__ import annotations

# pytester forgets what a session imports that it runs, and NumPy refuses to be imported
# a second time: then there would be no lower bound to show.
import scipy.stats  # noqa: F401
