"""What went wrong, read from what a command printed: the lines that say it, and what its exit code means."""

from dragoman.terminal.failures.finding import Found, find_errors
from dragoman.terminal.failures.meaning import exit_meaning

__all__ = ["Found", "exit_meaning", "find_errors"]
