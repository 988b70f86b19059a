"""The editor tools: open a file, propose a change, and read what is open, selected and wrong; each as far as the
person allows.
"""

from dragoman.tools.editor.table import editor_tools

__all__ = ["editor_tools"]
