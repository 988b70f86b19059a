"""What the parts of a command's help are called, in the reader's language."""

from __future__ import annotations

from typing import Any

from cyclopts import App

from dragoman.cli.output import shown
from dragoman.phrases import say


def labelled_app(**given: Any) -> App:
    """Each app by itself: a command takes its labels from the app that it is put into, when it is put there."""
    return App(
        group_commands=shown(say("Commands")),
        group_parameters=shown(say("Options")),
        group_arguments=shown(say("Arguments")),
        **given,
    )
