"""Shell marks in terminal output: OSC 133 and 633. Standard library alone."""

from __future__ import annotations

from dragoman.protocols.osc.framing import MAX_BODY, MarkScanner, OutputPart, encode_mark
from dragoman.protocols.osc.marks import (
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

__all__ = [
    "MAX_BODY",
    "SUSPENDED",
    "CommandFinished",
    "CommandLineReported",
    "InputStarted",
    "Mark",
    "MarkScanner",
    "OutputPart",
    "OutputStarted",
    "PromptStarted",
    "PropertyReported",
    "UnknownMark",
    "encode_mark",
]
