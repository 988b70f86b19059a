"""The person's editor as tools: open, compare, look at what is open, selected and wrong; each as the person allows."""

from dragoman.tools.editor.table import editor_operations

__all__ = ["editor_operations"]
