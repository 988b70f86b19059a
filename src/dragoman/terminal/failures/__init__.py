"""Reads from a command's output and exit code why it failed."""

from dragoman.terminal.failures.diagnosis import ErrorLines, exit_meaning, find_errors

__all__ = ["ErrorLines", "exit_meaning", "find_errors"]
