"""The evidence tools: questions about a whole run, each answered in one call."""

from dragoman.tools.evidence.failures import FailedCommands
from dragoman.tools.evidence.table import evidence_tools

__all__ = ["FailedCommands", "evidence_tools"]
