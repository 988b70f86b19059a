"""The terminal tools: which commands ran, what they printed, what a screen shows, and a terminal of the agent's own."""

from dragoman.tools.terminal.table import terminal_tools

__all__ = ["terminal_tools"]
