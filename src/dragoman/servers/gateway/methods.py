"""The table of gateway methods: the scope that each needs, its params, and its handler."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import msgspec
from msgspec import UNSET, Raw, UnsetType

from dragoman.chat.approvals import Approvals
from dragoman.chat.command_agent import CommandCompletion
from dragoman.chat.conversations import Conversation, Conversations, StoredMessage
from dragoman.chat.errors import GatewayRequestError, approval_needs_person
from dragoman.chat.runs import ChatRun, ChatRuns
from dragoman.core.clock import Clock
from dragoman.core.ids import new_id
from dragoman.core.localization import Language, localize
from dragoman.protocols.gateway import GatewayError, Grant, canonical_session_key
from dragoman.protocols.gateway.messages import short_session_key
from dragoman.protocols.gateway.refusals import invalid_params
from dragoman.servers.gateway import params as s
from dragoman.servers.gateway import payloads
from dragoman.servers.gateway.calls import (
    ADMIN,
    APPROVE,
    NODE_SCOPE,
    READ,
    WRITE,
    GatewayCaller,
    GatewayMethod,
    Json,
    MethodError,
    grants_scope,
    invalid_request,
    safe_client_name,
)
from dragoman.servers.gateway.documented_protocol import DeliveredAction
from dragoman.servers.gateway.nodes import NodeRegistry
from dragoman.workspace.trust import real_folder

_PREVIEWED = 12
_MAIN = canonical_session_key("main")
_NAMED_BY = 16


CompleteText = Callable[[str, Language, str], Awaitable[Sequence[CommandCompletion]]]
"""Takes the typed text, the language of the answer, and the folder whose files may be named."""
SessionChanged = Callable[[str, Mapping[str, Any]], None]
"""Takes a session's key and what changed, for clients that watch the list."""
CanvasAction = Callable[[GatewayCaller, str], Awaitable[DeliveredAction | None]]
"""Delivers a message that is a person's action on the canvas. Returns None for any other message."""
RelayRequest = Callable[[str, Raw | UnsetType], Awaitable[Json]]
"""Sends a request to another gateway; raises RequestFailedError with that gateway's error."""

UpstreamStatus = Callable[[Language], Mapping[str, Any]]
"""The status of the gateway that Dragoman is a client of."""

RELAYED = frozenset(
    {"agents.list", "models.list", "chat.send", "chat.abort", "chat.history", "chat.inject", "agent.wait"}
    | {f"sessions.{name}" for name in ("list", "create", "patch", "delete", "resolve", "preview")}
)
"""The methods about agents and their sessions. Dragoman's own methods are never relayed."""
DOCUMENT_METHODS = {"session.list": "sessions.list", "session.create": "sessions.create"}
"""The protocol document's names, and those of real gateways for the same methods."""


class MethodTable:
    """The methods that a client may call, by name.

    It checks role, scope and existence in this order, as real gateways do. With a relay, methods about agents and
    their sessions go to the other gateway.
    """

    def __init__(
        self,
        conversations: Conversations,
        runs: ChatRuns,
        approvals: Approvals,
        clock: Clock,
        *,
        model: str,
        workspace: str,
        health: Callable[[], Mapping[str, Any]],
        presence: Callable[[], list[Json]],
        complete: CompleteText,
        nodes: NodeRegistry,
        changed: SessionChanged,
        relay: RelayRequest | None = None,
        act: CanvasAction | None = None,
        upstream: UpstreamStatus = lambda _: {"state": "disconnected"},
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
        self._upstream = upstream
        self.table: Mapping[str, GatewayMethod] = {
            "health": GatewayMethod(READ, s.NoParams, self._show_health),
            "agents.list": GatewayMethod(READ, s.NoParams, self._agents),
            "models.list": GatewayMethod(READ, s.ModelsListParams, self._models),
            "system-presence": GatewayMethod(READ, s.NoParams, self._system_presence),
            "chat.send": GatewayMethod(WRITE, s.ChatSendParams, self._send),
            "chat.abort": GatewayMethod(WRITE, s.ChatAbortParams, self._abort),
            "chat.history": GatewayMethod(READ, s.ChatHistoryParams, self._history),
            "chat.inject": GatewayMethod(ADMIN, s.ChatInjectParams, self._inject),
            "agent.wait": GatewayMethod(WRITE, s.AgentWaitParams, self._wait),
            "sessions.list": GatewayMethod(READ, s.SessionsListParams, self._sessions),
            "sessions.create": GatewayMethod(WRITE, s.SessionsCreateParams, self._create),
            "sessions.patch": GatewayMethod(ADMIN, s.SessionsPatchParams, self._patch),
            "sessions.delete": GatewayMethod(ADMIN, s.SessionsDeleteParams, self._delete),
            "sessions.resolve": GatewayMethod(READ, s.SessionParams, self._resolve),
            "sessions.preview": GatewayMethod(READ, s.SessionsPreviewParams, self._preview),
            "sessions.subscribe": GatewayMethod(READ, s.NoParams, self._subscribe),
            "sessions.messages.subscribe": GatewayMethod(READ, s.SessionParams, self._subscribe_messages),
            **nodes.table(runs),
            # The protocol document's names.
            "session.list": GatewayMethod(READ, s.SessionsListParams, self._sessions),
            "session.create": GatewayMethod(WRITE, s.DocumentCreateParams, self._create),
            "dragoman.open": GatewayMethod(WRITE, s.OpenConversationParams, self._open),
            "dragoman.gateway": GatewayMethod(READ, s.NoParams, self._show_upstream),
            "dragoman.complete": GatewayMethod(READ, s.CompleteParams, self._completions),
            "dragoman.approvals": GatewayMethod(READ, s.NoParams, self._waiting_approvals),
            "dragoman.approval.resolve": GatewayMethod(APPROVE, s.ApprovalResolveParams, self._resolve_approval),
        }

    async def forget(self, keys: Iterable[str]) -> None:
        """Stop the runs of erased conversations, and notify the clients that have one open."""
        for key in keys:
            if self._runs.running(key) is not None:
                await self._runs.clear(key)
                await self._conversations.forget(key)
            self._publish_deleted(key)

    async def call(
        self, caller: GatewayCaller, grant: Grant, protocol: int, name: str, params: Raw | UnsetType
    ) -> Json:
        """Check role, scope and existence in this order, as real gateways do: an unknown method needs the highest
        scope."""
        method = self.table.get(name)
        wanted = method.scope if method else ADMIN
        if (grant.role == "node") is not (wanted == NODE_SCOPE):
            raise invalid_request(f"unauthorized role: {grant.role}")
        if wanted != NODE_SCOPE and not grants_scope(grant.scopes, wanted):
            raise MethodError(_missing_scope(wanted, protocol))
        if method is None:
            raise invalid_request(f"unknown method: {name[:200]}")
        if self._relay is not None and name in RELAYED:
            return await self._relayed(self._relay, name, params)
        given = _read_params(name, method.takes, params)
        if self._relay is not None and name in DOCUMENT_METHODS:
            return await self._relayed(self._relay, DOCUMENT_METHODS[name], _relay_params(given))
        return await method.run(caller, given)

    async def _relayed(self, relay: RelayRequest, name: str, params: Raw | UnsetType) -> Json:
        """Relay the call.

        Dragoman checks the scope; everything else, error texts included, comes from the other gateway.
        """
        try:
            return await relay(name, params)
        except GatewayRequestError as refused:
            raise MethodError(refused.error) from None

    async def _show_health(self, _: GatewayCaller, __: s.NoParams) -> Json:
        return {"ok": True, "ts": self._now_ms(), **self._health()}

    async def _agents(self, _: GatewayCaller, __: s.NoParams) -> Json:
        agent = {"id": "main", "workspace": self._workspace, "model": {"primary": self._model}}
        return {"defaultId": "main", "mainKey": "main", "scope": "per-sender", "agents": [agent]}

    async def _models(self, _: GatewayCaller, __: s.ModelsListParams) -> Json:
        provider, name = self._model.rpartition("/")[::2]
        return {"models": [{"provider": provider or "dragoman", "id": name, "name": name, "input": ["text"]}]}

    async def _system_presence(self, _: GatewayCaller, __: s.NoParams) -> Json:
        return self._presence()

    async def _send(self, caller: GatewayCaller, wanted: s.ChatSendParams) -> Json:
        """Send a message. The run's id is the idempotency key that the client chose."""
        run_id, session_key = wanted.idempotency_key, wanted.session_key
        if self._act is not None and not self._runs.is_known(run_id):
            delivered = await self._act(caller, wanted.message)
            if delivered is not None and not delivered.session_key:
                self._runs.announce(canonical_session_key(session_key), run_id, _action_delivered_text(caller.language))
                return {"runId": run_id, "status": "started"}
            session_key = delivered.session_key if delivered else session_key
        taken = await self._runs.send(
            session_key,
            wanted.message,
            run_id=run_id,
            by=caller.name,
            is_person=caller.is_person,
            language=caller.language,
        )
        return {"runId": run_id, "status": taken}

    async def abort_all(self) -> int:
        """Abort every run here. Runs of a relayed gateway are not ours."""
        return await self._runs.abort_all()

    async def _abort(self, _: GatewayCaller, wanted: s.ChatAbortParams) -> Json:
        elsewhere = self._runs.session_of(wanted.run_id) if wanted.run_id else None
        if elsewhere not in (None, canonical_session_key(wanted.session_key)):
            raise invalid_request("runId does not match sessionKey")
        ended = await self._runs.abort(wanted.session_key, wanted.run_id or "")
        return {"ok": True, "aborted": bool(ended), "runIds": list(ended)}

    async def _history(self, _: GatewayCaller, wanted: s.ChatHistoryParams) -> Json:
        known = self._conversations.find(wanted.session_key)
        rows, run = await self._history_rows(wanted) if known else ([], None)
        return {
            "sessionKey": wanted.session_key,
            **({"sessionId": known.id} if known else {}),
            "messages": payloads.history(rows, wanted.max_chars or 500_000),
            "thinkingLevel": "off",
            **({"inFlightRun": payloads.in_flight(run)} if run else {}),
        }

    async def _history_rows(self, wanted: s.ChatHistoryParams) -> tuple[list[StoredMessage], ChatRun | None]:
        """Read a consistent history: if a run ended while the rows were read, they are read again to include its
        answer."""
        while True:
            run = self._runs.running(wanted.session_key)
            rows = await self._conversations.history(wanted.session_key, limit=wanted.limit)
            if self._runs.running(wanted.session_key) is run:
                return rows, run

    async def _inject(self, caller: GatewayCaller, wanted: s.ChatInjectParams) -> Json:
        run_id = new_id("inject")
        message = await self._conversations.say(
            wanted.session_key,
            "assistant",
            wanted.message,
            run_id=run_id,
            by=safe_client_name(wanted.label or caller.name),
        )
        self._runs.announce(canonical_session_key(wanted.session_key), run_id, wanted.message)
        return {"ok": True, "messageId": message.id}

    async def _wait(self, _: GatewayCaller, wanted: s.AgentWaitParams) -> Json:
        with anyio.move_on_after(wanted.timeout_ms / 1000):
            outcome = await self._runs.outcome(wanted.run_id)
            return {
                "runId": wanted.run_id,
                "status": "ok" if outcome == "final" else outcome,
                "endedAt": self._now_ms(),
            }
        return {"runId": wanted.run_id, "status": "timeout"}

    async def _sessions(self, caller: GatewayCaller, wanted: s.SessionsListParams) -> Json:
        words = wanted.search.casefold()
        every = [it for it in self._conversations.all() if words in f"{it.label} {it.key}".casefold()]
        rows = [{**self._row(it), "key": _client_session_key(caller, it.key)} for it in every[: wanted.limit]]
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

    async def _create(self, caller: GatewayCaller, wanted: s.SessionsCreateParams | s.DocumentCreateParams) -> Json:
        made = await self._conversations.create(wanted.key or new_id("chat"), label=wanted.label or "")
        self._changed(made.key, {"reason": "create", **self._row(made)})
        key = _client_session_key(caller, made.key)
        return {
            "ok": True,
            "key": key,
            "sessionId": made.id,
            "entry": payloads.session_entry(made),
            "runStarted": False,
        }

    async def _open(self, caller: GatewayCaller, wanted: s.OpenConversationParams) -> Json:
        """The conversation of a window that is open on another folder than the daemon's; with a key, one that was just
        created there. Its runs work in that folder, as far as the folder is trusted."""
        if not caller.is_person:
            raise invalid_request("only the page and the editor say which folder a conversation is about")
        folder = await anyio.to_thread.run_sync(real_folder, Path(wanted.workspace))
        if self._relay is not None or folder == real_folder(Path(self._workspace)):
            return {"key": wanted.key or _MAIN}
        known = hashlib.sha256(str(folder).encode(errors="replace")).hexdigest()[:_NAMED_BY]
        made = await self._conversations.place(
            wanted.key or f"folder-{known}", str(folder), label="" if wanted.key else folder.name
        )
        self._changed(made.key, {"reason": "create", **self._row(made)})
        return {"key": made.key, "workspace": made.workspace}

    async def _show_upstream(self, caller: GatewayCaller, _: s.NoParams) -> Json:
        """The status of the connection to the upstream gateway. Its address is only for people."""
        shown = ("state", "address", "reason", "hint") if caller.is_person else ("state",)
        return {name: it for name, it in self._upstream(caller.language).items() if name in shown}

    async def _patch(self, _: GatewayCaller, wanted: s.SessionsPatchParams) -> Json:
        if self._conversations.find(wanted.key) is None:
            raise invalid_request(f"unknown session key {msgspec.json.encode(wanted.key).decode()}")
        changed = await self._conversations.rename(wanted.key, wanted.label or "")
        self._changed(changed.key, {"reason": "patch", **self._row(changed)})
        return {"ok": True, "key": changed.key, "entry": payloads.session_entry(changed)}

    async def _delete(self, _: GatewayCaller, wanted: s.SessionsDeleteParams) -> Json:
        await self._runs.clear(wanted.key)
        deleted = await self._conversations.remove(wanted.key)
        key = canonical_session_key(wanted.key)
        if deleted:
            self._publish_deleted(key)
        return {"ok": True, "key": key, "deleted": deleted, "archived": []}

    def _publish_deleted(self, key: str) -> None:
        self._approvals.forget(key)
        self._changed(key, {"reason": "delete"})

    async def _resolve(self, _: GatewayCaller, wanted: s.SessionParams) -> Json:
        if self._conversations.find(wanted.key) is None:
            raise invalid_request(f"No session found: {wanted.key}")
        return {"ok": True, "key": canonical_session_key(wanted.key)}

    async def _preview(self, _: GatewayCaller, wanted: s.SessionsPreviewParams) -> Json:
        previews = [await self._one_preview(key, wanted) for key in wanted.keys]
        return {"ts": self._now_ms(), "previews": previews}

    async def _one_preview(self, key: str, wanted: s.SessionsPreviewParams) -> Json:
        known = self._conversations.find(key)
        rows = await self._conversations.history(key, limit=wanted.limit) if known else []
        items = [{"role": row.role, "text": row.text[: wanted.max_chars]} for row in rows]
        status = "missing" if known is None else "ok" if items else "empty"
        return {"key": canonical_session_key(key), "status": status, "items": items}

    async def _subscribe(self, caller: GatewayCaller, _: s.NoParams) -> Json:
        """Behind a relay, the sessions belong to the other gateway, which sends events only after a subscription."""
        caller.subscribe_sessions()
        if self._relay is not None:
            await self._relayed(self._relay, "sessions.subscribe", Raw(b"{}"))
        return {"subscribed": True}

    async def _subscribe_messages(self, caller: GatewayCaller, wanted: s.SessionParams) -> Json:
        key = canonical_session_key(wanted.key)
        caller.subscribe_messages(key)
        return {"subscribed": True, "key": key}

    async def _completions(self, caller: GatewayCaller, wanted: s.CompleteParams) -> Json:
        """The texts alone, and with descriptions for clients that show them."""
        found = await self._complete(wanted.text, caller.language, self._folder_for(caller, wanted.session_key))
        offers = [it._asdict() for it in found]
        return {"completions": [it["text"] for it in offers], "offers": offers}

    def _folder_for(self, caller: GatewayCaller, key: str) -> str:
        """The folder for completions. Only a person may see the names in it."""
        known = self._conversations.find(key)
        return ((known.workspace if known else "") or self._workspace) if caller.is_person else ""

    async def _waiting_approvals(self, _: GatewayCaller, __: s.NoParams) -> Json:
        return {"approvals": [approval_payload(it) for it in self._approvals.waiting()]}

    async def _resolve_approval(self, caller: GatewayCaller, wanted: s.ApprovalResolveParams) -> Json:
        """Only a person may decide. The holder of a gateway token may be an agent, which may see what waits."""
        if not caller.is_person:
            raise approval_needs_person()
        allowed = wanted.decision == "allow"
        counted = self._approvals.answer(wanted.id, allowed=allowed, by_person=True)
        return {"ok": True, "counted": counted}

    def _row(self, conversation: Conversation) -> Json:
        running = self._runs.running(conversation.key) is not None
        return payloads.session_row(conversation, is_running=running, model=self._model)

    def _now_ms(self) -> int:
        return self._clock.wall_ns() // 1_000_000


def _action_delivered_text(language: Language) -> str:
    return localize("Forwarded to the agent that created the surface.").in_language(language)


def _client_session_key(caller: GatewayCaller, key: str) -> str:
    return short_session_key(key) if caller.follows_document else key


def _relay_params(wanted: s.SessionsListParams | s.DocumentCreateParams) -> Raw:
    """Only the params that were given: another gateway may not know the others."""
    named = wanted.as_real if isinstance(wanted, s.DocumentCreateParams) else wanted
    return Raw(msgspec.json.encode(named))


def approval_payload(wanted: Any) -> Json:
    return {
        "id": wanted.id,
        "sessionKey": wanted.session_key,
        "runId": wanted.run_id,
        "tool": wanted.tool,
        "subject": wanted.subject,
        "kind": wanted.kind,
    }


def _read_params(name: str, takes: type[msgspec.Struct], params: Raw | UnsetType) -> Any:
    data = b"{}" if params is UNSET else params
    try:
        return msgspec.json.decode(data, type=takes)
    except msgspec.ValidationError as error:
        raise MethodError(invalid_params(name, error).error) from None
    except (msgspec.DecodeError, RecursionError):
        raise invalid_request(f"invalid {name} params: must be object") from None


def _missing_scope(scope: str, protocol: int) -> GatewayError:
    message = f"missing scope: {scope}"
    if protocol < 4:
        return GatewayError(code="INVALID_REQUEST", message=message)
    details = {"code": "MISSING_SCOPE", "missingScope": scope, "requiredScopes": [scope]}
    return GatewayError(code="FORBIDDEN", message=message, details=Raw(msgspec.json.encode(details)))
