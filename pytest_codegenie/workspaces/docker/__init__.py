"""The workspace ``docker``: a container for each program, by any engine of that kind.

docker-py is an optional dependency and slow to import; nothing here imports it before
an engine is asked for.
"""

from __future__ import annotations
