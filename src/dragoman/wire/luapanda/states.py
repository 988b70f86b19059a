"""The life of a connection as one table: what may be said when, and what follows from it."""

from __future__ import annotations

from enum import StrEnum

from dragoman.errors import LocalProtocolError
from dragoman.wire.luapanda.commands import EXTENDED


class State(StrEnum):
    IDLE = "idle"  # connected; the IDE speaks first
    INIT = "init"  # initSuccess is sent and not answered
    STOPPED = "stopped"
    RUNNING = "running"
    CLOSED = "closed"  # after stopRun nothing is read any more


# What the runtime says that changes the state; everything else is a command's name.
INITIALISED, STOP = "<initialised>", "<stop>"

_IDLE, _INIT, _STOPPED, _RUNNING, _CLOSED = State

TRANSITIONS: dict[State, dict[str, State]] = {
    _IDLE: {"initSuccess": _INIT},
    _INIT: {
        INITIALISED: _RUNNING,
        STOP: _STOPPED,
        "setBreakPoint": _INIT,
        "LuaGarbageCollect": _INIT,
        "stopRun": _CLOSED,
    },
    _STOPPED: {
        STOP: _STOPPED,
        "setBreakPoint": _STOPPED,
        "getVariable": _STOPPED,
        "setVariable": _STOPPED,
        "getWatchedVariable": _STOPPED,
        "runREPLExpression": _STOPPED,
        "LuaGarbageCollect": _STOPPED,
        # From the moment they are sent: a command behind them would reach a running program.
        "continue": _RUNNING,
        "stopOnStep": _RUNNING,
        "stopOnStepIn": _RUNNING,
        "stopOnStepOut": _RUNNING,
        "stopRun": _CLOSED,
    },
    _RUNNING: {
        STOP: _STOPPED,
        "setBreakPoint": _RUNNING,
        "getWatchedVariable": _RUNNING,
        "runREPLExpression": _RUNNING,
        "LuaGarbageCollect": _RUNNING,
        "stopRun": _CLOSED,
    },
    _CLOSED: {},
}

_REASONS = {
    State.IDLE: "the connection begins with initSuccess",
    State.INIT: "initSuccess has not been answered yet",
    State.STOPPED: "the program is stopped, and the connection was set up before",
    State.RUNNING: "the program is running, and the runtime would drop it without an answer",
    State.CLOSED: "the connection has ended",
}


def state_after_sending(state: State, cmd: str, *, extended: bool = False) -> State:
    """Refuses what the runtime would drop, or die of, in this state. Our own runtime answers whatever it is asked."""
    if extended and state in (State.STOPPED, State.RUNNING) and cmd not in TRANSITIONS[state] and cmd in EXTENDED:
        return state
    try:
        return TRANSITIONS[state][cmd]
    except KeyError:
        raise LocalProtocolError("wrong_state", f"{cmd} cannot be sent now: {_REASONS[state]}.") from None


def state_after_hearing(state: State, what: str) -> State:
    """A stop that crosses our stopRun changes nothing."""
    return TRANSITIONS[state].get(what, state)
