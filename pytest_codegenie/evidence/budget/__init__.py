"""One budget for a run, over all its processes and sessions."""
