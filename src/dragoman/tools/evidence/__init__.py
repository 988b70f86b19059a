"""The tools for evidence: questions about a whole run, each answered in one call."""

from dragoman.tools.evidence.last_failure import FailedCommands
from dragoman.tools.evidence.table import evidence_operations

__all__ = ["FailedCommands", "evidence_operations"]
