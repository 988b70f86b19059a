"""Shell marks in terminal output: OSC 133 and 633. Standard library alone."""

from __future__ import annotations

from dragoman.wire.osc.encoding import encode_mark
from dragoman.wire.osc.marks import (
    SUSPENDED,
    CommandFinished,
    CommandLineReported,
    InputStarted,
    Mark,
    OutputStarted,
    PromptStarted,
    PropertyReported,
    UnknownMark,
)
from dragoman.wire.osc.scanner import MAX_BODY, MarkScanner, Piece

__all__ = [
    "MAX_BODY",
    "SUSPENDED",
    "CommandFinished",
    "CommandLineReported",
    "InputStarted",
    "Mark",
    "MarkScanner",
    "OutputStarted",
    "Piece",
    "PromptStarted",
    "PropertyReported",
    "UnknownMark",
    "encode_mark",
]
