"""What a terminal is told between its letters: control characters and escape sequences. Standard library alone."""

from dragoman.wire.ansi.tokens import MOST_BODY, Csi, Escape, Sequences, Text, Token
from dragoman.wire.ansi.viewing import RESTORED, Viewing

__all__ = ["MOST_BODY", "RESTORED", "Csi", "Escape", "Sequences", "Text", "Token", "Viewing"]
