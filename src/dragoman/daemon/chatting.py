"""Chat and canvas put together: conversations, runs, the agent that answers, and the gateway over them."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from dragoman.access.links import Links
from dragoman.access.tokens import Tokens
from dragoman.canvas.service import CanvasService
from dragoman.chat.approvals import Approvals
from dragoman.chat.command_agent import CommandAgent
from dragoman.chat.conversations import Conversations
from dragoman.chat.leave import Evaluators
from dragoman.chat.model_agent import ModelAgent
from dragoman.chat.runs import CONVERSATION, Question, Runs
from dragoman.chat.toolbox import Offer, ToolAnswer
from dragoman.clock import SystemClock
from dragoman.errors import DragomanError
from dragoman.gateway.document_canvas import DocumentCanvas
from dragoman.gateway.face import GatewayFace
from dragoman.gateway.hub import Hub
from dragoman.gateway.methods import Methods, Outer, Relay
from dragoman.journal import Journal
from dragoman.mcp.asked import login_environment
from dragoman.models.choosing import chosen_model
from dragoman.phrases import Language
from dragoman.setting_table import Settings
from dragoman.tools import Caller, Operation, Toolbox
from dragoman.tools.canvas import canvas_operations
from dragoman.tools.canvas.subjects import Subjects
from dragoman.transport.http_server import WEBSOCKET_MESSAGE_CAP
from dragoman.workspace.trust import TrustBook, can_be_asked_about, real_folder

CALLER = "chat"
_NO_MODEL = "dragoman/commands"
_DECLINED_AT_MOST = 100


class ChatTools:
    """The toolbox as a chat's agents see it: what a caller did wrong is an answer."""

    def __init__(self, toolbox: Toolbox, workspace: Path) -> None:
        self._toolbox = toolbox
        self._caller = Caller(id=CALLER, workspace=workspace, cwd=workspace, environment=login_environment())

    def offers(self) -> Sequence[Offer]:
        return [
            Offer(it.name, it.description, it.input_schema, it.effects.reads_only) for it in self._toolbox.operations
        ]

    async def call(
        self, name: str, arguments: Mapping[str, Any], *, by: str, workspace: str, language: Language
    ) -> ToolAnswer:
        caller = replace(self._caller, name=by, language=language, conversation=CONVERSATION.get())
        if workspace:
            caller = replace(caller, workspace=Path(workspace), cwd=Path(workspace))
        try:
            outcome = await self._toolbox.call(name, arguments, caller)
        except DragomanError as error:
            return ToolAnswer(_told(error, language), _failure(error, language), is_error=True)
        text = "\n".join(line.in_language(language) for line in outcome.lines)
        return ToolAnswer(text, outcome.data.model_dump(mode="json"), outcome.is_error)


@dataclass(frozen=True, slots=True)
class ChatTrust:
    """A person's word for a folder, given to the chat's own question about that very folder."""

    book: TrustBook
    approvals: Approvals
    declined: deque[tuple[str, str]] = field(default_factory=lambda: deque(maxlen=_DECLINED_AT_MOST))
    """Runs and folders: an agent that tries once more does not make the same question appear again."""

    async def ask(self, asked: Question, folder: str, tool: str) -> bool:
        place = await anyio.to_thread.run_sync(real_folder, Path(folder))
        once = (asked.run_id, str(place))
        if once in self.declined or not await anyio.to_thread.run_sync(can_be_asked_about, place):
            return False
        if not await self.approvals.ask_trust(asked.session_key, asked.run_id, str(place), tool):
            self.declined.append(once)
            return False
        await self.book.trust(place, seen=place)
        return True


@dataclass(frozen=True, slots=True)
class Chatting:
    conversations: Conversations
    canvas: CanvasService
    approvals: Approvals
    hub: Hub
    group: TaskGroup

    async def load(self) -> None:
        """From the stores: at the start, and after something was forgotten there, which is told to who has it open."""
        before = {it.key for it in self.conversations.all()}
        await self.conversations.load()
        await self.canvas.load()
        gone = before - {it.key for it in self.conversations.all()}
        if gone:
            await self.hub.methods.forget(gone)

    def operations(self, watchers: Callable[[], int], subjects: Subjects) -> Sequence[Operation]:
        return canvas_operations(self.canvas, watchers, subjects)

    def serve(
        self,
        toolbox: Toolbox,
        settings: Settings,
        workspace: Path,
        health: Callable[[], Mapping[str, Any]],
        relay: Relay | None,
        outer: Outer,
        trust: TrustBook,
        evaluators: Callable[[str, Mapping[str, Any]], Evaluators],
    ) -> GatewayFace:
        """With every tool there is: the canvas is among them, so this comes after `operations`."""
        tools = ChatTools(toolbox, workspace)
        trusting = ChatTrust(trust, self.approvals)
        commands = CommandAgent(tools, trusting)
        model = chosen_model(settings, os.environ)
        agent = ModelAgent(model, tools, self.approvals, None, evaluators, trusting) if model else commands
        self.hub.methods = Methods(
            self.conversations,
            Runs(self.group, self.conversations, agent, self.hub.tell),
            self.approvals,
            SystemClock(),
            model=f"{settings.model}/{settings.model_name}" if model else _NO_MODEL,
            workspace=str(workspace),
            health=health,
            presence=self.hub.presence,
            complete=commands.complete,
            nodes=self.hub.nodes,
            changed=self.hub.changed,
            relay=relay,
            act=self.hub.canvas.act if self.hub.canvas else None,
            outer=outer,
        )
        return GatewayFace(self.hub, prepare=toolbox.describe)


@asynccontextmanager
async def chatting(journal: Journal, tokens: Tokens, links: Links) -> AsyncIterator[Chatting]:
    """At the end of the block no run goes on; what was said is kept."""
    clock = SystemClock()
    async with anyio.create_task_group() as group:
        conversations, canvas = Conversations(journal, clock), CanvasService(journal, clock)
        hub = Hub(tokens, links, clock, largest_bytes=WEBSOCKET_MESSAGE_CAP)
        hub.canvas = DocumentCanvas(canvas, in_sessions=CALLER)
        canvas.watch(hub.drawn)
        made = Chatting(conversations, canvas, Approvals(hub.wanted, hub.settled), hub, group)
        await made.load()
        group.start_soon(hub.tick)
        yield made
        group.cancel_scope.cancel("the daemon ends")


def _failure(error: DragomanError, language: Language) -> dict[str, Any]:
    """In the words of tools whose failures have a shape of their own."""
    hint = error.hint.in_language(language) if error.hint else None
    told = {"code": error.code, "message": error.message.in_language(language), "hint": hint}
    return {**told, "details": getattr(error, "details", {})}


def _told(error: DragomanError, language: Language) -> str:
    return f"{error.code}: {error.in_language(language)}"
