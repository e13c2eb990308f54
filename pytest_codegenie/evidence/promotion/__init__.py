"""Whether what was measured is enough for the next tier of trust."""
