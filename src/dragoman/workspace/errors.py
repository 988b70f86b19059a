"""Errors of workspaces (trust and breakpoints): one row each, with a stable code, a message and a hint."""

from __future__ import annotations

from dragoman.core.errors import ErrorSpec

unknown_breakpoint = ErrorSpec(
    "unknown_breakpoint", "This workspace has no breakpoint {id}.", "`get_breakpoints` lists them."
)
no_folder = ErrorSpec(
    "no_such_folder", "Folder not found: {folder}.", "Pass the folder with the launch.json and tasks.json to trust."
)
folder_moved = ErrorSpec(
    "folder_moved",
    "{folder} now points to {place}; it changed after you were asked.",
    "Nothing was trusted. Check the new target, then try again.",
)
folder_too_wide = ErrorSpec(
    "too_wide",
    "{folder} is broader than one project: anything added to it later could run too.",
    "Pass the project folder, or add --yes to trust all of it.",
)
