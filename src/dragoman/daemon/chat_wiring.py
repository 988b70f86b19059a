"""Wires up chat and canvas: conversations, runs, the agent that answers, the gateway server, and the subjects that the
canvas can draw.
"""

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

from dragoman.access.tokens import AccessLinks, Tokens
from dragoman.canvas.service import CanvasService
from dragoman.chat.approval_policy import Evaluators
from dragoman.chat.approvals import Approvals
from dragoman.chat.command_agent import CommandAgent
from dragoman.chat.conversations import Conversations
from dragoman.chat.model_agent import ModelAgent
from dragoman.chat.runs import CONVERSATION, AgentRequest, ChatRuns
from dragoman.chat.toolbox import ToolAnswer, ToolDescription
from dragoman.core.clock import SystemClock
from dragoman.core.errors import DragomanError
from dragoman.core.localization import Language, localize
from dragoman.core.redaction import Redactor
from dragoman.core.settings.schema import Settings
from dragoman.debug import errors as session_errors
from dragoman.debug.model import SessionState
from dragoman.debug.service import DebugService
from dragoman.io.net.http_server import WEBSOCKET_MESSAGE_CAP
from dragoman.journal import Journal
from dragoman.models.selection import select_model
from dragoman.servers.gateway.documented_protocol import DocumentedCanvas
from dragoman.servers.gateway.methods import MethodTable, RelayRequest, UpstreamStatus
from dragoman.servers.gateway.server import GatewayEndpoint, GatewayHub
from dragoman.servers.mcp.http_endpoint import login_environment
from dragoman.tools import Tool, ToolRegistry
from dragoman.tools.canvas import canvas_tools
from dragoman.tools.canvas.surfaces import SubjectReaders
from dragoman.tools.debug import SourceFiles
from dragoman.tools.debug.session_lookup import ThreadReader
from dragoman.tools.debug.stop_results import StopResults
from dragoman.tools.debug.values import ValueFormatter
from dragoman.workspace.caller import PAGE_ON_OTHER_MACHINE, Caller
from dragoman.workspace.file_access import FileAccessPolicy
from dragoman.workspace.trust import TrustedFolders, can_be_asked_about, real_folder

CHAT_CALLER = "chat"
_NO_MODEL = "dragoman/commands"
_MAX_DECLINED = 100


class ChatTools:
    """The tools as the agents of a chat see them. A wrong call is an answer, not an exception."""

    def __init__(self, toolbox: ToolRegistry, workspace: Path) -> None:
        self._toolbox = toolbox
        environment = login_environment()
        self._caller = Caller(CHAT_CALLER, workspace, workspace, environment=environment, is_agent=True)

    def offers(self) -> Sequence[ToolDescription]:
        return [
            ToolDescription(it.name, it.description, it.input_schema, it.effects.reads_only)
            for it in self._toolbox.tools
        ]

    async def call(
        self, name: str, arguments: Mapping[str, Any], *, by: str, workspace: str, language: Language
    ) -> ToolAnswer:
        caller = replace(
            self._caller,
            name=by,
            language=language,
            conversation=CONVERSATION.get(),
            remote=PAGE_ON_OTHER_MACHINE.get(),
        )
        if workspace:
            caller = replace(caller, workspace=Path(workspace), cwd=Path(workspace))
        try:
            outcome = await self._toolbox.call(name, arguments, caller)
        except DragomanError as error:
            return ToolAnswer(_error_text(error, language), _error_data(error, language), is_error=True)
        text = "\n".join(line.in_language(language) for line in outcome.lines)
        return ToolAnswer(text, outcome.data.model_dump(mode="json"), outcome.is_error)


@dataclass(frozen=True, slots=True)
class ChatTrust:
    """Trust in a folder, given by the user in reply to a question of the chat."""

    folders: TrustedFolders
    approvals: Approvals
    declined: deque[tuple[str, str]] = field(default_factory=lambda: deque(maxlen=_MAX_DECLINED))
    """Declined questions, by run and folder: a retry does not ask again."""

    async def ask(self, asked: AgentRequest, folder: str, tool: str) -> bool:
        place = await anyio.to_thread.run_sync(real_folder, Path(folder))
        once = (asked.run_id, str(place))
        if once in self.declined or not await anyio.to_thread.run_sync(can_be_asked_about, place):
            return False
        if not await self.approvals.ask_trust(asked.session_key, asked.run_id, str(place), tool):
            self.declined.append(once)
            return False
        await self.folders.trust(place, seen=place)
        return True


@dataclass(frozen=True, slots=True)
class ChatWiring:
    conversations: Conversations
    canvas: CanvasService
    approvals: Approvals
    hub: GatewayHub
    group: TaskGroup

    async def abort_all(self) -> int:
        """Stop every run of every conversation; return how many there were."""
        return await self.hub.methods.abort_all()

    async def load(self) -> None:
        """Load from the stores: at the start, and after events were erased. Open clients learn which conversations are
        gone.
        """
        before = {it.key for it in self.conversations.all()}
        await self.conversations.load()
        await self.canvas.load()
        gone = before - {it.key for it in self.conversations.all()}
        if gone:
            await self.hub.methods.forget(gone)

    def tools(self, watchers: Callable[[], int], subjects: SubjectReaders) -> Sequence[Tool]:
        return canvas_tools(self.canvas, watchers, subjects)

    def serve(
        self,
        toolbox: ToolRegistry,
        settings: Settings,
        workspace: Path,
        health: Callable[[], Mapping[str, Any]],
        relay: RelayRequest | None,
        upstream: UpstreamStatus,
        trust: TrustedFolders,
        evaluators: Callable[[str, Mapping[str, Any]], Evaluators],
    ) -> GatewayEndpoint:
        """Create the gateway endpoint. It needs all tools, including those of the canvas, so it comes after `tools`."""
        tools = ChatTools(toolbox, workspace)
        trust_prompt = ChatTrust(trust, self.approvals)
        commands = CommandAgent(tools, trust_prompt)
        model = select_model(settings, os.environ)
        agent = ModelAgent(model, tools, self.approvals, None, evaluators, trust_prompt) if model else commands
        self.hub.methods = MethodTable(
            self.conversations,
            ChatRuns(self.group, self.conversations, agent, self.hub.publish, toolbox.pause.require_none),
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
            upstream=upstream,
        )
        return GatewayEndpoint(self.hub, prepare=toolbox.describe)


@asynccontextmanager
async def wire_chat(journal: Journal, tokens: Tokens, links: AccessLinks) -> AsyncIterator[ChatWiring]:
    """Run the chat. When the block ends, all runs are stopped; their messages are kept."""
    clock = SystemClock()
    async with anyio.create_task_group() as group:
        conversations, canvas = Conversations(journal, clock), CanvasService(journal, clock)
        hub = GatewayHub(tokens, links, clock, largest_bytes=WEBSOCKET_MESSAGE_CAP)
        hub.canvas = DocumentedCanvas(canvas, in_sessions=CHAT_CALLER)
        canvas.watch(hub.surface_changed)
        made = ChatWiring(conversations, canvas, Approvals(hub.approval_requested, hub.approval_resolved), hub, group)
        await made.load()
        group.start_soon(hub.tick)
        yield made
        group.cancel_scope.cancel("the daemon ends")


def _error_data(error: DragomanError, language: Language) -> dict[str, Any]:
    """The error in the form of the tools that return errors as results."""
    hint = error.hint.in_language(language) if error.hint else None
    data = {"code": error.code, "message": error.message.in_language(language), "hint": hint}
    return {**data, "details": error.details}


def _error_text(error: DragomanError, language: Language) -> str:
    return f"{error.code}: {error.in_language(language)}"


def canvas_subjects(
    service: DebugService, terminal: Sequence[Tool], *, rule: FileAccessPolicy, redactor: Redactor
) -> SubjectReaders:
    stops = StopResults(SourceFiles(rule), ValueFormatter(redactor), ThreadReader(service))
    return {"stop": _StopSubject(service, stops), "failure": _FailureSubject(ToolRegistry(terminal))}


@dataclass(frozen=True, slots=True)
class _StopSubject:
    service: DebugService
    stops: StopResults

    async def __call__(self, caller: Caller, session_id: str) -> dict[str, Any]:
        session = self.service.find(caller, session_id)
        if session.stop is None or session.state is not SessionState.STOPPED:
            raise session_errors.not_stopped(session.state)
        return (await self.stops.data(caller, session, session.stop)).model_dump(mode="json")


@dataclass(frozen=True, slots=True)
class _FailureSubject:
    terminal: ToolRegistry

    async def __call__(self, caller: Caller, command_id: str) -> dict[str, Any]:
        """Read the named command's output, or the last failure."""
        if not command_id:
            return self._require_found(await self._call_tool("get_last_failure", {}, caller))
        shown = await self._call_tool("get_command_output", {"command_id": command_id}, caller)
        errors = await self._call_tool("get_command_output", {"command_id": command_id, "part": "errors"}, caller)
        return {
            "command": shown["command"],
            "error_lines": errors["output"].splitlines(),
            "output_tail": shown["output"],
        }

    async def _call_tool(self, tool: str, arguments: dict[str, Any], caller: Caller) -> dict[str, Any]:
        return (await self.terminal.call(tool, arguments, caller)).data.model_dump(mode="json")

    def _require_found(self, failure: dict[str, Any]) -> dict[str, Any]:
        if failure["found"]:
            return failure
        raise DragomanError(
            "no_failure",
            localize("No failed command is recorded."),
            hint=localize("Find others with search_commands and pass one as subject_id."),
        )
