"""What can be wrong with a wish about the canvas, in words for who wished."""

from __future__ import annotations

from collections.abc import Sequence

from dragoman.errors import DragomanError
from dragoman.phrases import say


def unknown_surface(surface_id: str, known: Sequence[str]) -> DragomanError:
    return DragomanError(
        "unknown_surface",
        say("There is no surface {name}.", name=ascii(surface_id[:60])),
        hint=say("Surfaces there are: {names}.", names=", ".join(ascii(name[:60]) for name in known[:20]) or "-"),
    )


def unknown_component(component_id: str) -> DragomanError:
    return DragomanError(
        "unknown_component",
        say("The surface has no component {name}.", name=ascii(component_id[:60])),
        hint=say("It was changed meanwhile: look at it again."),
    )


def closed_surface() -> DragomanError:
    return DragomanError(
        "surface_closed",
        say("This was closed before: who asked has gone on without an answer."),
        hint=say("Say it in the chat, or wait until it is asked again."),
    )


def too_many_surfaces(most: int) -> DragomanError:
    return DragomanError(
        "too_many_surfaces",
        say("The canvas holds at most {most} surfaces of all agents together.", most=most),
        hint=say("Remove one with deleteSurface, or ask the person to close some."),
    )


def too_much_entered() -> DragomanError:
    return DragomanError(
        "too_much_entered",
        say("More was entered than one action may carry."),
        hint=say("Send less at once."),
    )
