"""The terminal tools: which commands ran, what they printed, what a screen shows, and the agent's own terminals."""

from dragoman.tools.terminal.table import terminal_tools

__all__ = ["terminal_tools"]
