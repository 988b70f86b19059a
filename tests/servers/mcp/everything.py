"""The names of all tools that a daemon offers, in their order."""

from __future__ import annotations

from dragoman.tools import general
from dragoman.tools.canvas import table as canvas
from dragoman.tools.debug import table as debug
from dragoman.tools.editor import table as editor
from dragoman.tools.evidence import table as evidence
from dragoman.tools.terminal import table as terminal

EVERYTHING = [tool.name for of in (general, debug, evidence, terminal, canvas, editor) for tool in of.TOOLS]
