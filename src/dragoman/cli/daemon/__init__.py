"""Commands that start, stop and show the daemon."""
