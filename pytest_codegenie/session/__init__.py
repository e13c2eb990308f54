"""One pytest session with ``--codegenie``; it starts in ``control``."""
