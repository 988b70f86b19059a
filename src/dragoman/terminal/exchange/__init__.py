"""Recordings that go out and come in: asciicast 2 and 3, the session folders of the original, and JSON lines."""

from dragoman.terminal.exchange.exporting import FORMATS, export
from dragoman.terminal.exchange.importing import bring_in
from dragoman.terminal.exchange.reading import open_recording

__all__ = ["FORMATS", "bring_in", "export", "open_recording"]
