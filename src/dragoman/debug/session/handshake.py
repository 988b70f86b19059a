"""The DAP handshake, from `initialize` to `configurationDone`, in an order that all adapters accept."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio
import msgspec

from dragoman.debug.backends.port import AdapterRefusedError, Backend
from dragoman.debug.backends.quirks import AdapterQuirks
from dragoman.io.event_loop import wait_for_first
from dragoman.protocols.dap import Capabilities, bodies, read_body

log = logging.getLogger(__name__)

_RESPONSE_TIMEOUT_S = 10.0
_INITIALIZE_TIMEOUT_S = 30.0
_INITIALIZED_GRACE_S = 0.5


@dataclass(frozen=True, slots=True)
class AdapterLaunch:
    """What to launch or attach to: the adapter's own arguments, and what we ask of the adapter in addition."""

    request: str
    arguments: Mapping[str, Any]
    adapter_id: str
    quirks: AdapterQuirks = field(default_factory=AdapterQuirks)
    exception_filters: tuple[str, ...] = ()
    no_debug: bool = False

    @property
    def is_launch(self) -> bool:
        return self.request == "launch"

    @property
    def is_core(self) -> bool:
        """The session inspects a core dump of a program that ended earlier."""
        return bool(self.arguments.get("coreFile") or self.arguments.get("coreFilePath"))


class AdapterHandshake:
    def __init__(
        self,
        backend: Backend,
        launch: AdapterLaunch,
        send_breakpoints: Callable[[], Awaitable[None]],
        hold: anyio.Event | None = None,
    ) -> None:
        """`hold` keeps the program from starting until its client has set breakpoints."""
        self.initialized = anyio.Event()
        self.configurable = anyio.Event()
        self.launched = anyio.Event()
        self.capabilities = Capabilities(msgspec.Raw(b"{}"))
        self._backend = backend
        self._launch = launch
        self._send_breakpoints = send_breakpoints
        self._hold = hold

    @property
    def is_held(self) -> bool:
        return self._hold is not None and not self._hold.is_set()

    def record_capabilities(self, body: bodies.CapabilitiesBody) -> None:
        self.capabilities = self.capabilities.merged(body.capabilities)

    async def run(self) -> None:
        """Adapters differ in when they answer the launch: it is never waited for before the configuration is done."""
        await self._initialize()
        async with anyio.create_task_group() as group:
            group.start_soon(self._request_launch)
            with anyio.fail_after(self._launch.quirks.ready_timeout_s):
                await self._until_configurable()
                self.configurable.set()
                if self.initialized.is_set():
                    await self._configure()

    async def _initialize(self) -> None:
        asked = {
            "adapterID": self._launch.adapter_id,
            "clientID": "dragoman",
            "linesStartAt1": True,
            "columnsStartAt1": True,
            "pathFormat": "path",
            "supportsVariableType": True,
            "supportsVariablePaging": True,
            "supportsRunInTerminalRequest": True,
            "supportsStartDebuggingRequest": True,
            "supportsMemoryReferences": True,
            "supportsProgressReporting": True,
        }
        response = await self._backend.request("initialize", asked, timeout_s=_INITIALIZE_TIMEOUT_S)
        self.capabilities = Capabilities(read_body(response, msgspec.Raw))

    async def _request_launch(self) -> None:
        arguments = {**self._launch.arguments, "noDebug": self._launch.no_debug}
        await self._backend.request(self._launch.request, arguments, timeout_s=self._launch.quirks.ready_timeout_s)
        self.launched.set()

    async def _until_configurable(self) -> None:
        """Without debugging some adapters never ask to be configured, and some, which do not start the program before
        they are, ask right after the launch's answer."""
        if not self._launch.no_debug:
            await self.initialized.wait()
            return
        await wait_for_first(self.initialized, self.launched)
        with anyio.move_on_after(_INITIALIZED_GRACE_S):
            await self.initialized.wait()

    async def _configure(self) -> None:
        await self._set_properties()
        if self._hold is not None:
            await self._hold.wait()
        await self._send_breakpoints()
        if self.capabilities.has("supportsConfigurationDoneRequest"):
            await self._backend.request("configurationDone", timeout_s=_RESPONSE_TIMEOUT_S)

    async def _set_properties(self) -> None:
        properties = dict(self._launch.quirks.properties)
        if not properties or not self.capabilities.has("supportsDebuggerProperties"):
            return
        try:
            await self._backend.request("setDebuggerProperty", properties, timeout_s=_RESPONSE_TIMEOUT_S)
        except AdapterRefusedError as error:
            log.info("the adapter keeps its own properties: %s", error.reason)
