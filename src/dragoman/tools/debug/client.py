"""Who asks, and of which session, as the debug domain knows them."""

from __future__ import annotations

from collections.abc import Collection

from dragoman.debug import persons
from dragoman.debug.lives import OURSELVES
from dragoman.debug.service import Client, DebugService
from dragoman.debug.session import Session
from dragoman.debug.states import LIVE, State
from dragoman.errors import DragomanError
from dragoman.phrases import Phrase, say
from dragoman.tools.operation import Caller


def client_of(caller: Caller) -> Client:
    return Client(
        id=caller.id,
        workspace=caller.workspace,
        cwd=caller.cwd,
        environment=caller.environment,
        trusts_workspace=caller.trusts_workspace,
        name=caller.name,
        link=caller.link,
    )


def who(id: str, caller: Caller) -> Phrase:
    """Who did something, for a caller: ids of others say nothing to it."""
    if id == OURSELVES:
        return say("{text}", text=OURSELVES)
    return persons.told(id) or (say("this client") if id == caller.id else say("another client"))


def files_of_stacks(service: DebugService, client: Client) -> frozenset[str]:
    """What the stack of a stopped session names may be read and broken in, wherever it lies."""
    stops = [session.stop for session in service.sessions(client) if session.state is State.STOPPED]
    return frozenset(frame.path for stop in stops if stop for frame in stop.frames if frame.path)


def live_besides(service: DebugService, client: Client, but: Collection[str]) -> list[Session]:
    """The others of the workspace, the one that is meant without an id first."""
    live = [it for it in service.sessions(client) if it.state in LIVE - {State.TERMINATING} and it.id not in but]
    meant = meant_without_id(service, client)
    return sorted(live, key=lambda it: it.id != meant)


def meant_without_id(service: DebugService, client: Client) -> str:
    """Its id; empty where a call has to name one."""
    try:
        return service.find(client).id
    except DragomanError:
        return ""
