"""The canvas tools: draw a surface, change it, read what the person did on it, and ask the person."""

from dragoman.tools.canvas.table import canvas_tools

__all__ = ["canvas_tools"]
