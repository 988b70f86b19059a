"""Errors of the canvas."""

from __future__ import annotations

from dragoman.core.errors import ErrorSpec, quoted

unknown_surface = ErrorSpec(
    "unknown_surface",
    "Unknown surface {name}.",
    "Existing surfaces: {names}.",
    name=quoted(60),
    names=lambda known: ", ".join(ascii(name[:60]) for name in known[:20]) or "-",
)
unknown_component = ErrorSpec(
    "unknown_component",
    "The surface has no component {name}.",
    "The surface has changed. Read it again.",
    name=quoted(60),
)
closed_surface = ErrorSpec(
    "surface_closed",
    "This question is closed: the agent continued without an answer.",
    "Answer in the chat, or wait until the agent asks again.",
)
too_many_surfaces = ErrorSpec(
    "too_many_surfaces",
    "The canvas is full: at most {most} surfaces for all agents.",
    "Remove one with deleteSurface, or ask the user to close some.",
)
too_much_entered = ErrorSpec("too_much_entered", "The input exceeds the limit for one action.", "Send less data.")
