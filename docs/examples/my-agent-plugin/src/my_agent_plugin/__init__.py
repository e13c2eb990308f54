"""My agent and a badge, for pytest-codegenie."""
