"""Export and import of recordings: asciicast 2 and 3, omnish session folders, and JSON lines."""

from dragoman.terminal.exchange.exporter import FORMATS, export_recording
from dragoman.terminal.exchange.importer import import_recording, open_recording

__all__ = ["FORMATS", "export_recording", "import_recording", "open_recording"]
