"""The editor tools: open a file, propose a change, and read open files, the selection and problems, as far as the user
allows.
"""

from __future__ import annotations

from dragoman.core.redaction import Redactor
from dragoman.editors import EditorRegistry
from dragoman.tools.editor.actions import EditorActionTools
from dragoman.tools.editor.inspection import EditorInspectionTools
from dragoman.tools.editor.requests import EDITOR_ERRORS, EditorRequests
from dragoman.tools.tool import Tool, bind_tools
from dragoman.workspace.file_access import FileAccessPolicy

__all__ = ["TOOLS", "editor_tools"]

# In display order.
TOOLS = (
    EditorActionTools.open,
    EditorActionTools.diff,
    EditorInspectionTools.diagnostics,
    EditorInspectionTools.selection,
    EditorInspectionTools.open_files,
    EditorActionTools.notify,
    EditorActionTools.run,
)


def editor_tools(editors: EditorRegistry, rule: FileAccessPolicy, redactor: Redactor) -> list[Tool]:
    requests = EditorRequests(editors, rule, redactor)
    return bind_tools(
        TOOLS, EditorActionTools(requests), EditorInspectionTools(requests), set="editor", error_format=EDITOR_ERRORS
    )
