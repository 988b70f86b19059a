"""The names of all tools that a daemon offers, in their order."""

from __future__ import annotations

from dragoman.tools import canvas, debug, editor, evidence, status_and_journal, terminal

EVERYTHING = [tool.name for of in (status_and_journal, debug, evidence, terminal, canvas, editor) for tool in of.TOOLS]
