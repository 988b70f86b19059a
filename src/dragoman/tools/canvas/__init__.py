"""The canvas as tools: show, change, hear what the person did, ask."""

from dragoman.tools.canvas.table import canvas_operations

__all__ = ["canvas_operations"]
