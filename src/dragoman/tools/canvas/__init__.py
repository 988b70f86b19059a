"""The canvas tools: draw a surface, change it, read what the user did on it, and ask the user."""

from dragoman.tools.canvas.table import canvas_tools

__all__ = ["canvas_tools"]
