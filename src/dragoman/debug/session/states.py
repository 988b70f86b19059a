"""The states of a debug session and the table of transitions between them. Nothing else assigns a state."""

from __future__ import annotations

from enum import Enum


class SessionState(Enum):
    """The six words of the specification."""

    IDLE = "Idle"
    STARTING = "Starting"
    RUNNING = "Running"
    STOPPED = "Stopped"
    TERMINATING = "Terminating"
    TERMINATED = "Terminated"


class Transition(Enum):
    LAUNCHED = "launched"
    RESUMED = "resumed"
    STOPPED = "stopped"
    ENDING = "ending"
    ENDED = "ended"


# What a late event finds ended stays ended: adapters go on talking for a while.
_NEXT: dict[SessionState, dict[Transition, SessionState]] = {
    SessionState.IDLE: {Transition.LAUNCHED: SessionState.STARTING, Transition.ENDED: SessionState.TERMINATED},
    SessionState.STARTING: {
        Transition.RESUMED: SessionState.RUNNING,
        Transition.STOPPED: SessionState.STOPPED,
        Transition.ENDING: SessionState.TERMINATING,
        Transition.ENDED: SessionState.TERMINATED,
    },
    SessionState.RUNNING: {
        Transition.RESUMED: SessionState.RUNNING,
        Transition.STOPPED: SessionState.STOPPED,
        Transition.ENDING: SessionState.TERMINATING,
        Transition.ENDED: SessionState.TERMINATED,
    },
    SessionState.STOPPED: {
        Transition.RESUMED: SessionState.RUNNING,
        Transition.STOPPED: SessionState.STOPPED,
        Transition.ENDING: SessionState.TERMINATING,
        Transition.ENDED: SessionState.TERMINATED,
    },
    SessionState.TERMINATING: {
        Transition.RESUMED: SessionState.TERMINATING,
        Transition.STOPPED: SessionState.TERMINATING,
        Transition.ENDING: SessionState.TERMINATING,
        Transition.ENDED: SessionState.TERMINATED,
    },
    SessionState.TERMINATED: dict.fromkeys(
        (Transition.RESUMED, Transition.STOPPED, Transition.ENDING, Transition.ENDED), SessionState.TERMINATED
    ),
}

LIVE_STATES = frozenset({SessionState.STARTING, SessionState.RUNNING, SessionState.STOPPED, SessionState.TERMINATING})


def next_state(state: SessionState, transition: Transition) -> SessionState:
    """The state that follows; a step that is not in the table is a mistake of ours, never of an adapter."""
    return _NEXT[state][transition]
