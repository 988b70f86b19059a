"""Control characters and escape sequences of terminal output (ECMA-48). Standard library alone."""

from dragoman.protocols.ansi.display_filter import DisplayFilter
from dragoman.protocols.ansi.tokens import MOST_BODY, Csi, Escape, SequenceParser, Text, Token

__all__ = ["MOST_BODY", "Csi", "DisplayFilter", "Escape", "SequenceParser", "Text", "Token"]
