"""For every test of this repository.

The tests inside of bench cases are material; ``pytest --codegenie bench/`` collects
the cases, and nothing but a case's own run collects them.
"""

from __future__ import annotations


pytest_plugins = ["pytester"]
collect_ignore_glob = ["bench/*/cases/*"]
