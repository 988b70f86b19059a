"""The endpoint of HTTP clients, at `/mcp`, and what a request says about its client.

The SDK is not imported before the first request. Refusals are JSON-RPC errors, because a client shows its user those
and not the body of an HTTP status.
"""

from __future__ import annotations

import logging
import os
import pwd
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import msgspec
from anyio.abc import TaskGroup
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from dragoman.access.request_guard import HOLDER, AllowedNames
from dragoman.access.tokens import DEFAULT, TokenHolder
from dragoman.core.errors import DragomanError
from dragoman.core.ids import new_id
from dragoman.core.localization import Language, localize
from dragoman.protocols.jsonrpc import INVALID_REQUEST, PARSE_ERROR, TOO_MANY_PARTS, Id, has_too_many_parts
from dragoman.servers.mcp.stdio_endpoint import McpEndpoint
from dragoman.tools import ToolRegistry
from dragoman.workspace.caller import Caller
from dragoman.workspace.trust import is_wide

if TYPE_CHECKING:
    from dragoman.servers.mcp.http_sessions import HttpSessions

WORKSPACE_HEADER = "Dragoman-Workspace"
# The folders of system packages and language installers, as a login shell would find them.
_PROGRAM_FOLDERS = (
    "~/.local/bin", "~/.cargo/bin", "~/go/bin", "/opt/homebrew/bin", "/usr/local/go/bin", "/usr/local/bin",
    "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin",
)  # fmt: skip
_LOADED_WITHIN_S = 30.0
_INVALID_PARAMS = -32602
_UNAVAILABLE = -32000


@dataclass(frozen=True, slots=True)
class HttpClientContext:
    """What a request says about its client: workspace, tools, form of the results, token and language.

    A session may only be used by requests that say the same as the one that opened it. To others it is unknown.
    """

    workspace: str
    tools: tuple[str, ...]
    credential: bytes = field(repr=False)
    structured: str = ""
    schemas: str = ""
    token_name: str = DEFAULT
    """The name of its token. When that token is revoked, what the client has open ends."""
    language: Language = field(default="en", compare=False)

    @classmethod
    def of(cls, connection: HTTPConnection) -> HttpClientContext:
        headers, query = connection.headers, connection.query_params
        return cls(
            workspace=query.get("workspace") or _as_utf8(headers.get(WORKSPACE_HEADER, "")),
            tools=tuple(name.strip() for name in query.get("tools", "").split(",") if name.strip()),
            structured=query.get("structured", ""),
            schemas=query.get("schemas", ""),
            credential=sha256(headers.get("authorization", "").encode()).digest(),
            token_name=(connection.scope.get(HOLDER) or TokenHolder("mcp")).name,
            language="zh" if headers.get("accept-language", "").lower().startswith("zh") else "en",
        )

    async def caller(self, default: Path) -> Caller:
        """The caller.

        No person started this client in the folder, so code in it does not run before a person trusts it.
        """
        workspace = await anyio.to_thread.run_sync(_workspace_folder, self.workspace or str(default))
        return Caller(
            id=new_id("mcp"),
            workspace=workspace,
            cwd=workspace,
            language=self.language,
            environment=login_environment(),
            is_agent=True,
            trusts_workspace=False,
        )


def login_environment() -> dict[str, str]:
    """The environment for programs of clients that send none.

    It is not the daemon's, which depends on who happened to start the daemon: the same call could run another
    interpreter from one day to the next.
    """
    home, user, shell = _account()
    folders = [folder.replace("~", home, 1) for folder in _PROGRAM_FOLDERS]
    return {
        "HOME": home,
        "USER": user,
        "LOGNAME": user,
        "SHELL": shell,
        "PATH": os.pathsep.join(folder for folder in folders if Path(folder).is_dir()),
        "LANG": os.environ.get("LANG") or "C.UTF-8",
    }


def _account() -> tuple[str, str, str]:
    try:
        entry = pwd.getpwuid(os.getuid())
    except KeyError:  # A container may run the daemon under a uid without a name.
        return os.environ.get("HOME", os.sep), str(os.getuid()), "/bin/sh"
    return entry.pw_dir, entry.pw_name, entry.pw_shell or "/bin/sh"


def _workspace_folder(text: str) -> Path:
    path = Path(text)
    try:
        if path.is_absolute() and path.is_dir():
            return _require_narrow(Path(os.path.realpath(path)))  # resolved once: trust is requested for this target
    except (OSError, ValueError):  # too long, or contains a NUL
        pass
    raise DragomanError(
        "no_such_folder",
        localize("The workspace {path} is not a folder.", path=ascii(text[:200])),
        hint=localize("Pass an existing one: `?workspace=/folder` in the URL, or the header Dragoman-Workspace."),
    )


def _require_narrow(folder: Path) -> Path:
    """Refuse the whole disk and a home folder as a workspace: agents may read the files of their workspace."""
    if is_wide(folder):
        raise DragomanError(
            "workspace_too_wide",
            localize("{path} is too broad to be a workspace.", path=ascii(str(folder)[:200])),
            hint=localize("Pass the project's own folder: `?workspace=/folder`, or the header Dragoman-Workspace."),
        )
    return folder


def _as_utf8(value: str) -> str:
    """A header arrives as Latin-1; a path in it is UTF-8, as file names are."""
    try:
        return value.encode("latin-1").decode()
    except UnicodeError:
        return value


# The status of the HTTP response, and the code of the JSON-RPC error in it.
_ERROR_STATUS: dict[str, tuple[int, int]] = {
    "not_json": (400, PARSE_ERROR),
    TOO_MANY_PARTS: (400, INVALID_REQUEST),
    "not_a_message": (400, INVALID_REQUEST),
    "encoded_body": (415, INVALID_REQUEST),
    "id_in_use": (400, INVALID_REQUEST),
    "session_needed": (400, INVALID_REQUEST),
    "unknown_mcp_session": (404, INVALID_REQUEST),
    "wrong_method": (405, INVALID_REQUEST),
    "no_such_folder": (400, _INVALID_PARAMS),
    "workspace_too_wide": (400, _INVALID_PARAMS),
    "unknown_tool_set": (400, _INVALID_PARAMS),
    "unknown_option": (400, _INVALID_PARAMS),
    "too_many_calls": (503, _UNAVAILABLE),
}


class EnvelopeParams(msgspec.Struct):
    meta: dict[str, Any] = msgspec.field(name="_meta", default_factory=dict)


class Envelope(msgspec.Struct):
    """The members of a message that identify its client. The SDK reads the rest."""

    id: Id | None = None
    method: str = ""
    params: EnvelopeParams = msgspec.field(default_factory=EnvelopeParams)


class McpHttpEndpoint:
    """The HTTP endpoint for MCP. It loads the SDK with the first request; every session is a task inside `run`."""

    def __init__(self, endpoint: McpEndpoint, names: AllowedNames, workspace: Path) -> None:
        """`workspace` is the default for clients that name none."""
        self._endpoint = endpoint
        self._names = names
        self._workspace = workspace
        self._requested = anyio.Event()
        self._ready = anyio.Event()
        self._scope = anyio.CancelScope()
        self._sessions: HttpSessions

    async def run(self) -> None:
        """Runs as long as the daemon serves: every HTTP session is a task in here."""
        with self._scope:
            await self._requested.wait()
            make = await anyio.to_thread.run_sync(_load_sessions, self._endpoint.toolbox)
            async with anyio.create_task_group() as group:
                self._sessions = make(self._endpoint, self._names, self._workspace, group)
                self._ready.set()
                await anyio.sleep_forever()

    def end(self) -> None:
        """End the sessions before the HTTP server shuts down, because it waits for open streams."""
        self._scope.cancel("the daemon ends")

    async def __call__(self, body: bytes, scope: Scope, receive: Receive, send: Send) -> None:
        connection = HTTPConnection(scope)
        context = HttpClientContext.of(connection)
        envelope = Envelope()
        try:
            if scope["method"] == "POST":
                envelope = _read_envelope(connection, body)
            sessions = await self._wait_until_loaded()
            await sessions.serve(context, envelope, scope, _replay_body(body, receive), send)
        except DragomanError as error:
            if error.code not in _ERROR_STATUS:
                raise
            await _error_response(error, envelope.id, context.language)(scope, receive, send)

    async def _wait_until_loaded(self) -> HttpSessions:
        self._requested.set()
        with anyio.fail_after(_LOADED_WITHIN_S):
            await self._ready.wait()
        return self._sessions


def _load_sessions(toolbox: ToolRegistry) -> Callable[[McpEndpoint, AllowedNames, Path, TaskGroup], HttpSessions]:
    """Load the SDK in a worker thread, so that the event loop continues."""
    from dragoman.servers.mcp.http_sessions import HttpSessions  # noqa: PLC0415

    toolbox.describe()
    # It logs each start and end of a session, which Dragoman logs too.
    logging.getLogger("mcp").setLevel(logging.WARNING)
    return HttpSessions


def _read_envelope(connection: HTTPConnection, body: bytes) -> Envelope:
    if connection.headers.get("content-encoding", "identity") != "identity":
        raise DragomanError(
            "encoded_body", localize("Compressed bodies are not supported."), hint=localize("Send it uncompressed.")
        )
    if has_too_many_parts(body):
        raise DragomanError(
            TOO_MANY_PARTS, localize("The message has too many elements."), hint=localize("Send less data.")
        )
    try:
        return msgspec.json.decode(body, type=Envelope)
    except msgspec.ValidationError as error:
        raise DragomanError(
            "not_a_message",
            localize("The body must be one JSON-RPC 2.0 message."),
            hint=localize("Send one message per request."),
        ) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DragomanError("not_json", localize("The body is not valid JSON.")) from error


def _replay_body(body: bytes, receive: Receive) -> Receive:
    """Replay the body for the SDK, which reads it again. After it comes what the server still sends: the disconnect."""
    is_replayed = False

    async def receive_again() -> Message:
        nonlocal is_replayed
        if is_replayed:
            return await receive()
        is_replayed = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again


def _error_response(error: DragomanError, request_id: Id | None, language: Language) -> Response:
    status, code = _ERROR_STATUS[error.code]
    error_body = {"code": code, "message": error.in_language(language), "data": {"code": error.code}}
    answer = msgspec.json.encode({"jsonrpc": "2.0", "id": request_id, "error": error_body})
    return Response(answer, status_code=status, media_type="application/json")
