"""The methods as a table: the scope each wants, the shape it takes, and who answers."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import msgspec
from msgspec import UNSET, Raw, UnsetType

from dragoman.chat.approvals import Approvals, not_a_person
from dragoman.chat.command_agent import Completion
from dragoman.chat.conversations import Conversation, Conversations, Said
from dragoman.chat.faults import RequestFailedError
from dragoman.chat.runs import Run, Runs
from dragoman.clock import Clock
from dragoman.gateway import schemas as s
from dragoman.gateway import shapes
from dragoman.gateway.calls import NODE, Asker, Json, Method, MethodError, invalid
from dragoman.gateway.document_canvas import Delivered
from dragoman.gateway.grants import ADMIN, APPROVE, READ, WRITE, allows, called
from dragoman.gateway.nodes import Nodes
from dragoman.ids import new_id
from dragoman.phrases import Language, say
from dragoman.wire.gateway import GatewayError, Grant, canonical_session_key
from dragoman.wire.gateway.refusals import invalid_params
from dragoman.wire.gateway.session_keys import short_session_key
from dragoman.workspace.trust import real_folder

_PREVIEWED = 12
_MAIN = canonical_session_key("main")
_NAMED_BY = 16


Complete = Callable[[str, Language, str], Awaitable[Sequence[Completion]]]
"""What was typed, in which language it is answered, and the folder whose files may be named."""
Changed = Callable[[str, Mapping[str, Any]], None]
"""A session's key, and what became of it: for those who watch the list."""
Act = Callable[[Asker, str], Awaitable[Delivered | None]]
"""A message that is a person's action on the canvas goes to who drew the surface; any other is None."""
Relay = Callable[[str, Raw | UnsetType], Awaitable[Json]]
"""Asks another gateway; raises RequestFailedError with what that one said."""

Outer = Callable[[Language], Mapping[str, Any]]
"""How the gateway stands that we are a client of."""

RELAYED = frozenset(
    {"agents.list", "models.list", "chat.send", "chat.abort", "chat.history", "chat.inject", "agent.wait"}
    | {f"sessions.{name}" for name in ("list", "create", "patch", "delete", "resolve", "preview")}
)
"""What is about agents and their sessions. Our own methods stay ours."""
SPELLED_OTHERWISE = {"session.list": "sessions.list", "session.create": "sessions.create"}
"""The protocol document's spellings, and what real gateways call the same."""


class Methods:
    def __init__(
        self,
        conversations: Conversations,
        runs: Runs,
        approvals: Approvals,
        clock: Clock,
        *,
        model: str,
        workspace: str,
        health: Callable[[], Mapping[str, Any]],
        presence: Callable[[], list[Json]],
        complete: Complete,
        nodes: Nodes,
        changed: Changed,
        relay: Relay | None = None,
        act: Act | None = None,
        outer: Outer = lambda _: {"state": "disconnected"},
    ) -> None:
        self._conversations = conversations
        self._runs = runs
        self._approvals = approvals
        self._clock = clock
        self._model = model
        self._workspace = workspace
        self._health = health
        self._presence = presence
        self._complete = complete
        self._changed = changed
        self._relay = relay
        self._act = act
        self._outer = outer
        self.table: Mapping[str, Method] = {
            "health": Method(READ, s.Nothing, self._show_health),
            "agents.list": Method(READ, s.Nothing, self._agents),
            "models.list": Method(READ, s.ModelsList, self._models),
            "system-presence": Method(READ, s.Nothing, self._present),
            "chat.send": Method(WRITE, s.ChatSend, self._send),
            "chat.abort": Method(WRITE, s.ChatAbort, self._abort),
            "chat.history": Method(READ, s.ChatHistory, self._history),
            "chat.inject": Method(ADMIN, s.ChatInject, self._inject),
            "agent.wait": Method(WRITE, s.AgentWait, self._wait),
            "sessions.list": Method(READ, s.SessionsList, self._sessions),
            "sessions.create": Method(WRITE, s.SessionsCreate, self._create),
            "sessions.patch": Method(ADMIN, s.SessionsPatch, self._patch),
            "sessions.delete": Method(ADMIN, s.SessionsDelete, self._delete),
            "sessions.resolve": Method(READ, s.OneSession, self._resolve),
            "sessions.preview": Method(READ, s.SessionsPreview, self._preview),
            "sessions.subscribe": Method(READ, s.Nothing, self._subscribe),
            "sessions.messages.subscribe": Method(READ, s.OneSession, self._subscribe_messages),
            **nodes.table(runs),
            # The protocol document's spellings.
            "session.list": Method(READ, s.SessionsList, self._sessions),
            "session.create": Method(WRITE, s.DocumentCreate, self._create),
            "dragoman.open": Method(WRITE, s.OpenTalk, self._open),
            "dragoman.gateway": Method(READ, s.Nothing, self._show_outer),
            "dragoman.complete": Method(READ, s.Complete, self._completions),
            "dragoman.approvals": Method(READ, s.Nothing, self._waiting_approvals),
            "dragoman.approval.resolve": Method(APPROVE, s.ApprovalResolve, self._decide),
        }

    async def forget(self, keys: Iterable[str]) -> None:
        """Of conversations that were erased: nothing runs in them, and those who have one open are told."""
        for key in keys:
            if self._runs.running(key) is not None:
                await self._runs.clear(key)
                await self._conversations.forget(key)
            self._gone(key)

    async def call(self, asker: Asker, grant: Grant, protocol: int, name: str, params: Raw | UnsetType) -> Json:
        """Role, then scope, then existence, as real gateways look: an unknown method wants the highest."""
        method = self.table.get(name)
        wanted = method.scope if method else ADMIN
        if (grant.role == "node") is not (wanted == NODE):
            raise invalid(f"unauthorized role: {grant.role}")
        if wanted != NODE and not allows(grant.scopes, wanted):
            raise MethodError(_missing(wanted, protocol))
        if method is None:
            raise invalid(f"unknown method: {name[:200]}")
        if self._relay is not None and name in RELAYED:
            return await self._relayed(self._relay, name, params)
        given = _read(name, method.takes, params)
        if self._relay is not None and name in SPELLED_OTHERWISE:
            return await self._relayed(self._relay, SPELLED_OTHERWISE[name], _respelled(given))
        return await method.run(asker, given)

    async def _relayed(self, relay: Relay, name: str, params: Raw | UnsetType) -> Json:
        """The scope was ours to judge; everything else is the other gateway's, its words too."""
        try:
            return await relay(name, params)
        except RequestFailedError as refused:
            raise MethodError(refused.error) from None

    async def _show_health(self, _: Asker, __: s.Nothing) -> Json:
        return {"ok": True, "ts": self._now_ms(), **self._health()}

    async def _agents(self, _: Asker, __: s.Nothing) -> Json:
        agent = {"id": "main", "workspace": self._workspace, "model": {"primary": self._model}}
        return {"defaultId": "main", "mainKey": "main", "scope": "per-sender", "agents": [agent]}

    async def _models(self, _: Asker, __: s.ModelsList) -> Json:
        provider, name = self._model.rpartition("/")[::2]
        return {"models": [{"provider": provider or "dragoman", "id": name, "name": name, "input": ["text"]}]}

    async def _present(self, _: Asker, __: s.Nothing) -> Json:
        return self._presence()

    async def _send(self, asker: Asker, wanted: s.ChatSend) -> Json:
        """The run's id is the key that the client chose."""
        run_id, session_key = wanted.idempotency_key, wanted.session_key
        if self._act is not None and not self._runs.is_known(run_id):
            delivered = await self._act(asker, wanted.message)
            if delivered is not None and not delivered.session_key:
                self._runs.announce(canonical_session_key(session_key), run_id, _passed_on(asker.language))
                return {"runId": run_id, "status": "started"}
            session_key = delivered.session_key if delivered else session_key
        taken = await self._runs.send(
            session_key,
            wanted.message,
            run_id=run_id,
            by=asker.name,
            is_person=asker.is_person,
            language=asker.language,
        )
        return {"runId": run_id, "status": taken}

    async def _abort(self, _: Asker, wanted: s.ChatAbort) -> Json:
        elsewhere = self._runs.session_of(wanted.run_id) if wanted.run_id else None
        if elsewhere not in (None, canonical_session_key(wanted.session_key)):
            raise invalid("runId does not match sessionKey")
        ended = await self._runs.abort(wanted.session_key, wanted.run_id or "")
        return {"ok": True, "aborted": bool(ended), "runIds": list(ended)}

    async def _history(self, _: Asker, wanted: s.ChatHistory) -> Json:
        known = self._conversations.find(wanted.session_key)
        rows, run = await self._said(wanted) if known else ([], None)
        return {
            "sessionKey": wanted.session_key,
            **({"sessionId": known.id} if known else {}),
            "messages": shapes.history(rows, wanted.max_chars or 500_000),
            "thinkingLevel": "off",
            **({"inFlightRun": shapes.in_flight(run)} if run else {}),
        }

    async def _said(self, wanted: s.ChatHistory) -> tuple[list[Said], Run | None]:
        """Of one moment: a run that ended while the rows were read has its answer in them only when read again."""
        while True:
            run = self._runs.running(wanted.session_key)
            rows = await self._conversations.history(wanted.session_key, limit=wanted.limit)
            if self._runs.running(wanted.session_key) is run:
                return rows, run

    async def _inject(self, asker: Asker, wanted: s.ChatInject) -> Json:
        run_id = new_id("inject")
        said = await self._conversations.say(
            wanted.session_key, "assistant", wanted.message, run_id=run_id, by=called(wanted.label or asker.name)
        )
        self._runs.announce(canonical_session_key(wanted.session_key), run_id, wanted.message)
        return {"ok": True, "messageId": said.id}

    async def _wait(self, _: Asker, wanted: s.AgentWait) -> Json:
        with anyio.move_on_after(wanted.timeout_ms / 1000):
            outcome = await self._runs.outcome(wanted.run_id)
            return {
                "runId": wanted.run_id,
                "status": "ok" if outcome == "final" else outcome,
                "endedAt": self._now_ms(),
            }
        return {"runId": wanted.run_id, "status": "timeout"}

    async def _sessions(self, asker: Asker, wanted: s.SessionsList) -> Json:
        words = wanted.search.casefold()
        every = [it for it in self._conversations.all() if words in f"{it.label} {it.key}".casefold()]
        rows = [{**self._row(it), "key": _spelled(asker, it.key)} for it in every[: wanted.limit]]
        return {
            "ts": self._now_ms(),
            "path": "(store)",
            "count": len(rows),
            "totalCount": len(every),
            "limitApplied": wanted.limit,
            "hasMore": len(every) > len(rows),
            "defaults": {"modelProvider": "dragoman", "model": self._model},
            "sessions": rows,
        }

    async def _create(self, asker: Asker, wanted: s.SessionsCreate | s.DocumentCreate) -> Json:
        made = await self._conversations.create(wanted.key or new_id("chat"), label=wanted.label or "")
        self._changed(made.key, {"reason": "create", **self._row(made)})
        key = _spelled(asker, made.key)
        return {"ok": True, "key": key, "sessionId": made.id, "entry": shapes.entry(made), "runStarted": False}

    async def _open(self, asker: Asker, wanted: s.OpenTalk) -> Json:
        """The conversation of a window that is open on another folder than ours; with a key, one that was just created
        there. What is asked in it runs there, as far as that folder is trusted."""
        if not asker.is_person:
            raise invalid("only the page and the editor say which folder a conversation is about")
        folder = await anyio.to_thread.run_sync(real_folder, Path(wanted.workspace))
        if self._relay is not None or folder == real_folder(Path(self._workspace)):
            return {"key": wanted.key or _MAIN}
        known = hashlib.sha256(str(folder).encode(errors="replace")).hexdigest()[:_NAMED_BY]
        made = await self._conversations.place(
            wanted.key or f"folder-{known}", str(folder), label="" if wanted.key else folder.name
        )
        self._changed(made.key, {"reason": "create", **self._row(made)})
        return {"key": made.key, "workspace": made.workspace}

    async def _show_outer(self, asker: Asker, _: s.Nothing) -> Json:
        """How the connection to the gateway stands that we are a client of; where it is, is for people alone."""
        shown = ("state", "address", "reason", "hint") if asker.is_person else ("state",)
        return {name: it for name, it in self._outer(asker.language).items() if name in shown}

    async def _patch(self, _: Asker, wanted: s.SessionsPatch) -> Json:
        if self._conversations.find(wanted.key) is None:
            raise invalid(f"unknown session key {msgspec.json.encode(wanted.key).decode()}")
        changed = await self._conversations.rename(wanted.key, wanted.label or "")
        self._changed(changed.key, {"reason": "patch", **self._row(changed)})
        return {"ok": True, "key": changed.key, "entry": shapes.entry(changed)}

    async def _delete(self, _: Asker, wanted: s.SessionsDelete) -> Json:
        await self._runs.clear(wanted.key)
        deleted = await self._conversations.remove(wanted.key)
        key = canonical_session_key(wanted.key)
        if deleted:
            self._gone(key)
        return {"ok": True, "key": key, "deleted": deleted, "archived": []}

    def _gone(self, key: str) -> None:
        self._approvals.forget(key)
        self._changed(key, {"reason": "delete"})

    async def _resolve(self, _: Asker, wanted: s.OneSession) -> Json:
        if self._conversations.find(wanted.key) is None:
            raise invalid(f"No session found: {wanted.key}")
        return {"ok": True, "key": canonical_session_key(wanted.key)}

    async def _preview(self, _: Asker, wanted: s.SessionsPreview) -> Json:
        previews = [await self._one_preview(key, wanted) for key in wanted.keys]
        return {"ts": self._now_ms(), "previews": previews}

    async def _one_preview(self, key: str, wanted: s.SessionsPreview) -> Json:
        known = self._conversations.find(key)
        rows = await self._conversations.history(key, limit=wanted.limit) if known else []
        items = [{"role": said.role, "text": said.text[: wanted.max_chars]} for said in rows]
        status = "missing" if known is None else "ok" if items else "empty"
        return {"key": canonical_session_key(key), "status": status, "items": items}

    async def _subscribe(self, asker: Asker, _: s.Nothing) -> Json:
        """Behind a relay the sessions are the other gateway's, which tells of them only when it is asked to."""
        asker.subscribe_sessions()
        if self._relay is not None:
            await self._relayed(self._relay, "sessions.subscribe", Raw(b"{}"))
        return {"subscribed": True}

    async def _subscribe_messages(self, asker: Asker, wanted: s.OneSession) -> Json:
        key = canonical_session_key(wanted.key)
        asker.subscribe_messages(key)
        return {"subscribed": True, "key": key}

    async def _completions(self, asker: Asker, wanted: s.Complete) -> Json:
        """The texts alone, and with what each does: for who shows no more, and for who does."""
        found = await self._complete(wanted.text, asker.language, self._folder_for(asker, wanted.session_key))
        offers = [it._asdict() for it in found]
        return {"completions": [it["text"] for it in offers], "offers": offers}

    def _folder_for(self, asker: Asker, key: str) -> str:
        """What lies in it is for a person alone to see."""
        known = self._conversations.find(key)
        return ((known.workspace if known else "") or self._workspace) if asker.is_person else ""

    async def _waiting_approvals(self, _: Asker, __: s.Nothing) -> Json:
        return {"approvals": [wanted_approval(it) for it in self._approvals.waiting()]}

    async def _decide(self, asker: Asker, wanted: s.ApprovalResolve) -> Json:
        """Whoever holds a gateway token may be an agent: it sees what waits, and decides nothing."""
        if not asker.is_person:
            raise not_a_person()
        allowed = wanted.decision == "allow"
        counted = self._approvals.answer(wanted.id, allowed=allowed, by_person=True)
        return {"ok": True, "counted": counted}

    def _row(self, conversation: Conversation) -> Json:
        running = self._runs.running(conversation.key) is not None
        return shapes.session_row(conversation, is_running=running, model=self._model)

    def _now_ms(self) -> int:
        return self._clock.wall_ns() // 1_000_000


def _passed_on(language: Language) -> str:
    return say("Passed on to the agent that drew the surface.").in_language(language)


def _spelled(asker: Asker, key: str) -> str:
    return short_session_key(key) if asker.follows_document else key


def _respelled(wanted: s.SessionsList | s.DocumentCreate) -> Raw:
    """With what was named alone: another gateway may not know the rest."""
    named = wanted.as_real if isinstance(wanted, s.DocumentCreate) else wanted
    return Raw(msgspec.json.encode(named))


def wanted_approval(wanted: Any) -> Json:
    return {
        "id": wanted.id,
        "sessionKey": wanted.session_key,
        "runId": wanted.run_id,
        "tool": wanted.tool,
        "subject": wanted.subject,
        "kind": wanted.kind,
    }


def _read(name: str, takes: type[msgspec.Struct], params: Raw | UnsetType) -> Any:
    data = b"{}" if params is UNSET else params
    try:
        return msgspec.json.decode(data, type=takes)
    except msgspec.ValidationError as error:
        raise MethodError(invalid_params(name, error).error) from None
    except (msgspec.DecodeError, RecursionError):
        raise invalid(f"invalid {name} params: must be object") from None


def _missing(scope: str, protocol: int) -> GatewayError:
    message = f"missing scope: {scope}"
    if protocol < 4:
        return GatewayError(code="INVALID_REQUEST", message=message)
    details = {"code": "MISSING_SCOPE", "missingScope": scope, "requiredScopes": [scope]}
    return GatewayError(code="FORBIDDEN", message=message, details=Raw(msgspec.json.encode(details)))
