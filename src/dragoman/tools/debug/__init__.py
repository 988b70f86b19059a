"""Debugging as operations: the eleven of the specification, and what their users ask for besides."""

from dragoman.tools.debug.sessions import Configurations, Listing
from dragoman.tools.debug.sources import FileSources, SourceReader
from dragoman.tools.debug.table import debug_operations
from dragoman.tools.debug.waits import Waits

__all__ = ["Configurations", "FileSources", "Listing", "SourceReader", "Waits", "debug_operations"]
