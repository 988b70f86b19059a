"""Stops that are over: every one is kept as it was, and can be read, compared and searched."""
