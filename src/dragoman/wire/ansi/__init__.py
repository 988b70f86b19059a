"""What a terminal is told between its letters: control characters and escape sequences. Standard library alone."""

from dragoman.wire.ansi.tokens import MOST_BODY, Csi, Escape, Sequences, Text, Token
from dragoman.wire.ansi.viewing import Viewing

__all__ = ["MOST_BODY", "Csi", "Escape", "Sequences", "Text", "Token", "Viewing"]
