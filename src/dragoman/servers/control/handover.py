"""The control methods behind `dragoman share`: how a session was started, its output, and the signature of its file."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import anyio.to_thread
import msgspec

from dragoman.chat.gateway_client.identity import DeviceIdentity
from dragoman.core.errors import DragomanError, ErrorSpec
from dragoman.core.events import Event
from dragoman.core.localization import localize
from dragoman.debug.model import LaunchRequest
from dragoman.debug.registry import FollowedSession
from dragoman.debug.service import DebugService
from dragoman.debug.shared_sessions import SharedSessions
from dragoman.io.files.bounded_read import read_at_most
from dragoman.journal import Journal
from dragoman.protocols.share import FILE_BYTES, decode_manifest, encode_manifest, read_share, sign_manifest
from dragoman.servers.control.debug_runs import DebugRuns
from dragoman.servers.control.methods import is_run_by_agent
from dragoman.servers.control.server import CALLING_FROM_AFAR, ControlMethod, Params, ResultPart
from dragoman.workspace.breakpoints import Breakpoint, BreakpointRegistry

_OUTPUT_CHARACTERS = 1 << 20
# A part is one line of JSON on the socket, which has a size limit.
_CHUNK_CHARACTERS = 1 << 16

WrittenConfigurations = Callable[[Path], Sequence[Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class HandoverMethods:
    service: DebugService
    breakpoints: BreakpointRegistry
    runs: DebugRuns
    written: WrittenConfigurations
    """The configurations of a folder's launch.json."""
    identity: DeviceIdentity
    shared: SharedSessions
    journal: Journal

    def table(self, agents: Callable[[], Collection[int]]) -> Mapping[str, ControlMethod]:
        """`agents`: the processes through which MCP clients are connected now."""
        return {"session_facts": self._facts, "share_sign": partial(self._sign, agents), "share_open": self._open}

    async def _facts(self, params: Params) -> AsyncIterator[Any]:
        """Yield the output in pieces; then how the session was started, if it is still known."""
        session_id = str(params.get("session", ""))
        try:
            followed = self.service.find_in_any_workspace(session_id)
        except DragomanError:
            yield {"launch": None, "breakpoints": []}
            return
        output = self.service.output_of(session_id, _OUTPUT_CHARACTERS)
        for at in range(0, len(output), _CHUNK_CHARACTERS):
            yield ResultPart({"output": output[at : at + _CHUNK_CHARACTERS]})
        launch = await anyio.to_thread.run_sync(self._launch, followed)
        yield {"launch": launch, "breakpoints": [msgspec.to_builtins(it) for it in self._breakpoints(followed)]}

    def _launch(self, followed: FollowedSession) -> dict[str, Any]:
        """The request, and for a named configuration also what launch.json says under that name."""
        request: LaunchRequest = followed.entry.prepared.launch_request
        written = self._written(followed.workspace, request.configuration_name) if request.configuration_name else {}
        return {
            "configuration_name": request.configuration_name,
            "configuration": dict(request.configuration) or dict(written),
            "program": request.program,
            "args": list(request.args),
            "cwd": request.cwd,
            "env": dict(request.env),
            "inputs": list(request.inputs),
            "stdin": request.stdin,
            "no_debug": request.no_debug,
        }

    def _written(self, workspace: Path, name: str) -> Mapping[str, Any]:
        """Nothing for a compound, or if the file has changed: then the name alone is known."""
        try:
            return next((it for it in self.written(workspace) if it.get("name") == name), {})
        except DragomanError:
            return {}

    def _breakpoints(self, followed: FollowedSession) -> list[Breakpoint]:
        """Those of the folder that can be set again; data breakpoints mean nothing in another session."""
        here = self.breakpoints.of(str(followed.workspace))
        rows = [*here, *self.runs.removed_breakpoints(followed.session.id)]
        return [it for it in rows if it.enabled and it.kind != "data" and it.session in ("", followed.session.id)]

    async def _open(self, params: Params) -> AsyncIterator[Any]:
        """Verify a file and keep its contents in memory. Only the same user can use this socket."""
        path, workspace = (_absolute_path(params, name) for name in ("path", "workspace"))
        session = await anyio.to_thread.run_sync(lambda: read_share(read_at_most(path, FILE_BYTES)))
        opened = self.shared.add(session, workspace)
        yield {"id": session.id, "signer": opened.signer}

    async def _sign(self, agents: Callable[[], Collection[int]], params: Params) -> AsyncIterator[Any]:
        """Sign a manifest, and nothing that is not one, with the key of this device. The signature says that it comes
        from the person, so no agent gets one, and nobody on another machine.
        """
        if CALLING_FROM_AFAR.get() or await is_run_by_agent(agents):
            raise not_a_person()
        manifest = decode_manifest(str(params.get("manifest", "")).encode())
        signed = sign_manifest(encode_manifest(manifest), self.identity.seed())
        body = {"session": manifest.session, "key": signed.fingerprint}
        await self.journal.append([Event(kind="share.signed", text=manifest.title, body=body)])
        yield msgspec.to_builtins(signed)


not_a_person = ErrorSpec(
    "not_a_person",
    "Only a person on this machine can sign a shared session, not an agent's terminal or program.",
    "Run `dragoman share` in your own terminal.",
)


def _absolute_path(params: Params, name: str) -> Path:
    path = params.get(name)
    if not isinstance(path, str) or not path.startswith("/") or "\0" in path:
        raise DragomanError("bad_request", localize("`{name}` must be an absolute path.", name=name))
    return Path(path)
