"""The editor tools: open a file, propose a change, and read open files, the selection and problems, as far as the user
allows.
"""

from dragoman.tools.editor.table import editor_tools

__all__ = ["editor_tools"]
