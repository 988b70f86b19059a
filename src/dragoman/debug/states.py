"""The life of a debug session: every state change, as a table. Nothing else may assign a state."""

from __future__ import annotations

from enum import Enum


class State(Enum):
    """The six words of the specification."""

    IDLE = "Idle"
    STARTING = "Starting"
    RUNNING = "Running"
    STOPPED = "Stopped"
    TERMINATING = "Terminating"
    TERMINATED = "Terminated"


class Happening(Enum):
    LAUNCHED = "launched"
    RESUMED = "resumed"
    STOPPED = "stopped"
    ENDING = "ending"
    ENDED = "ended"


# What a late event finds ended stays ended: adapters go on talking for a while.
_NEXT: dict[State, dict[Happening, State]] = {
    State.IDLE: {Happening.LAUNCHED: State.STARTING, Happening.ENDED: State.TERMINATED},
    State.STARTING: {
        Happening.RESUMED: State.RUNNING,
        Happening.STOPPED: State.STOPPED,
        Happening.ENDING: State.TERMINATING,
        Happening.ENDED: State.TERMINATED,
    },
    State.RUNNING: {
        Happening.RESUMED: State.RUNNING,
        Happening.STOPPED: State.STOPPED,
        Happening.ENDING: State.TERMINATING,
        Happening.ENDED: State.TERMINATED,
    },
    State.STOPPED: {
        Happening.RESUMED: State.RUNNING,
        Happening.STOPPED: State.STOPPED,
        Happening.ENDING: State.TERMINATING,
        Happening.ENDED: State.TERMINATED,
    },
    State.TERMINATING: {
        Happening.RESUMED: State.TERMINATING,
        Happening.STOPPED: State.TERMINATING,
        Happening.ENDING: State.TERMINATING,
        Happening.ENDED: State.TERMINATED,
    },
    State.TERMINATED: dict.fromkeys(
        (Happening.RESUMED, Happening.STOPPED, Happening.ENDING, Happening.ENDED), State.TERMINATED
    ),
}

LIVE = frozenset({State.STARTING, State.RUNNING, State.STOPPED, State.TERMINATING})


def after(state: State, happening: Happening) -> State:
    """The state that follows; a step that is not in the table is a mistake of ours, never of an adapter."""
    return _NEXT[state][happening]
