"""The debug tools: the eleven of the specification, and some more."""

from dragoman.tools.debug.sessions import ConfigurationListing, ConfigurationReader
from dragoman.tools.debug.source_locations import SourceFiles, SourceReader
from dragoman.tools.debug.table import debug_tools
from dragoman.tools.waits import OpenWaits

__all__ = [
    "ConfigurationListing",
    "ConfigurationReader",
    "OpenWaits",
    "SourceFiles",
    "SourceReader",
    "debug_tools",
]
