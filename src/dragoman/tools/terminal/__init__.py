"""Terminals as operations: what ran, what it printed, what stands on a screen, and a terminal of the agent's own."""

from dragoman.tools.terminal.table import terminal_operations

__all__ = ["terminal_operations"]
