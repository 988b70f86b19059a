"""Translates between DAP and one connection to a Lua runtime."""

from __future__ import annotations

import contextlib
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio
from anyio.abc import TaskGroup

from dragoman.core.errors import DragomanError, RemoteProtocolError
from dragoman.core.localization import LocalizedText, localize, localized_str
from dragoman.debug.backends.luapanda.binding_advice import parse_path_command
from dragoman.debug.backends.luapanda.breakpoints import DATA_FEATURE, LuaBreakpoints, LuaDataBreakpoints
from dragoman.debug.backends.luapanda.inspection import (
    MAIN_COROUTINE,
    CoroutineIds,
    LuaInspector,
    LuaStop,
    chunk_from_entry,
)
from dragoman.debug.backends.luapanda.path_map import LuaChunk, LuaPathMap
from dragoman.debug.backends.luapanda.pause import PauseControl, location_in
from dragoman.debug.backends.luapanda.runtime_client import (
    ExtendedRuntimeClient,
    HelperClient,
    PlainRuntimeClient,
    RuntimeClient,
)
from dragoman.debug.backends.luapanda.settings import LuaSettings
from dragoman.debug.backends.port import AdapterRefusedError, make_event, make_output_event
from dragoman.io.drivers.luapanda_driver import LuaPandaDriver
from dragoman.protocols.dap.bodies import EventBody
from dragoman.protocols.luapanda import Message

log = logging.getLogger(__name__)

_ANSWER_TIMEOUT_S = 5.0
_MESSAGES = 256
_LONGEST_NOTICE = 2_000  # characters of a line that is shown to people
_STEPS_TO_ENTRY = 3
_STEPS = {"next": "stopOnStep", "stepIn": "stopOnStepIn", "stepOut": "stopOnStepOut"}
_REASONS = {
    "stopOnEntry": "entry",
    "stopOnBreakpoint": "breakpoint",
    "stopOnStep": "step",
    "stopOnStepIn": "step",
    "stopOnStepOut": "step",
    "stopOnPause": "pause",
    "stopOnException": "exception",
}
_FILTERS = {"raised": "all", "uncaught": "uncaught"}

LuaRequestHandler = Callable[[Mapping[str, Any], float], Awaitable[Any]]


class LuaPandaBridge:
    """Serves DAP requests over one connection to a Lua runtime and turns its messages into DAP events.

    Owns the current stop and the breakpoints of the runtime. It never opens a connection or ends a program:
    `LuaTarget` does.
    """

    def __init__(self, settings: LuaSettings, paths: LuaPathMap) -> None:
        self.publish: Callable[[EventBody], Awaitable[None]]
        self.memory_bytes: int | None = None
        self._settings = settings
        self._paths = paths
        self._coroutines = CoroutineIds()
        self._stop: LuaStop | None = None
        self._stops = 0
        self._ran = ""
        self._entered = anyio.Event()
        self._fault: DragomanError | RemoteProtocolError | None = None
        """Why nothing can be set up at the entry."""
        self._filter = "none"
        self._is_open = False
        self._message_sender, self._message_receiver = anyio.create_memory_object_stream[Message](_MESSAGES)
        self._driver: LuaPandaDriver
        self._client: RuntimeClient
        self._inspector: LuaInspector
        self._breakpoints: LuaBreakpoints
        self._pause_control: PauseControl
        self._data: LuaDataBreakpoints
        self.served: dict[str, LuaRequestHandler] = {
            "setBreakpoints": self._set_breakpoints,
            "setFunctionBreakpoints": self._set_functions,
            "dataBreakpointInfo": self._data_info,
            "setDataBreakpoints": self._set_data,
            "setExceptionBreakpoints": self._set_exceptions,
            "configurationDone": self._configuration_done,
            "continue": self._resume,
            **{command: self._stepper(cmd) for command, cmd in _STEPS.items()},
            "pause": self._pause,
            "threads": self._threads,
            "stackTrace": self._at_stop(LuaInspector.stack),
            "scopes": self._at_stop(LuaInspector.scopes),
            "variables": self._at_stop(LuaInspector.variables),
            "evaluate": self._evaluate,
            "setVariable": self._at_stop(LuaInspector.set_variable),
            "setExpression": self._at_stop(LuaInspector.set_expression),
            "exceptionInfo": self._exception_info,
            "loadedSources": self._loaded_sources,
            "collectGarbage": self._collect_garbage,
        }

    # Lifecycle

    async def handshake(self, driver: LuaPandaDriver, *, within_s: float) -> None:
        """The IDE speaks first. The runtime's answer is all that identifies it."""
        await driver.ask("initSuccess", self._settings.init(), timeout_s=within_s)

    async def open(self, driver: LuaPandaDriver, group: TaskGroup) -> None:
        """Until the program stands at its entry, and what is needed there is set up."""
        self._driver = driver
        self._use_client(self._choose_client(driver))
        self._is_open = True
        group.start_soon(self._handle)
        group.start_soon(_set_when_closed, driver, self._entered)
        await self._entered.wait()
        if isinstance(self._fault, RemoteProtocolError):
            driver.fault = self._fault
        if driver.closed.is_set() or driver.fault is not None:
            raise driver.gone("initSuccess")
        if self._fault is not None:
            raise self._fault

    def _choose_client(self, driver: LuaPandaDriver) -> RuntimeClient:
        runtime = driver.connection.runtime
        if runtime is not None and runtime.is_extended:
            return ExtendedRuntimeClient(driver)
        return HelperClient(driver) if runtime is not None and runtime.has_loadstring else PlainRuntimeClient(driver)

    def _use_client(self, client: RuntimeClient) -> None:
        self._client = client
        self._inspector = LuaInspector(client, self._paths, self._coroutines)
        self._breakpoints = LuaBreakpoints(self._driver, client, self._paths, self._settings)
        self._pause_control = PauseControl(self._driver, client, self._breakpoints, self._paths)
        runtime = self._driver.connection.runtime
        has_data = (
            isinstance(client, ExtendedRuntimeClient) and runtime is not None and DATA_FEATURE in runtime.features
        )
        self._data = LuaDataBreakpoints(client, self._inspector, is_supported=has_data)

    def close(self) -> None:
        self._stop = None
        self._message_sender.close()
        self._message_receiver.close()

    async def detach(self) -> None:
        """The program goes on, without breakpoints, and does not die of it.

        Said at once, in this order: a running program may read it all in two seconds, and never again."""
        if not self._is_open or self._driver.closed.is_set():
            return
        try:
            async with anyio.create_task_group() as group:
                self._breakpoints.clear(group)
                group.start_soon(self._restore_program)
                group.start_soon(self._send_stop_run)
        except* DragomanError as errors:
            log.info("a Lua program was left without a goodbye: %s", errors.exceptions[0])
        finally:
            await self._driver.close()

    async def _restore_program(self) -> None:
        """Undoes what was changed in the program besides its breakpoints."""
        if isinstance(self._client, HelperClient):
            await self._client.ask("leave", {}, timeout_s=_ANSWER_TIMEOUT_S)
        else:
            await self._data.set(())
            await self._set_filter("none")

    async def _send_stop_run(self) -> None:
        """Not where the program listens: it would never read again."""
        if self._settings.mode != "connecting":
            extra = {"attach": False} if isinstance(self._client, ExtendedRuntimeClient) else {}
            await self._driver.ask("stopRun", extra, timeout_s=_ANSWER_TIMEOUT_S)

    # Messages from the runtime

    async def receive(self, message: Message) -> None:
        """In the reader's task: what needs an answer is done in another."""
        if message.cmd == "refreshLuaMemory":
            self._record_memory(message.text)
        else:
            with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
                await self._message_sender.send(message)

    async def _handle(self) -> None:
        async for message in self._message_receiver:
            try:
                await (self._handle_notice(message) if message.stack is None else self._handle_stop(message))
            except (DragomanError, RemoteProtocolError) as error:
                log.info("a message of a Lua runtime was passed over: %s", error)
                if message.stack is not None and not self._entered.is_set():
                    self._fault = error
                    self._entered.set()

    async def _handle_notice(self, message: Message) -> None:
        info = message.info if isinstance(message.info, dict) else {}
        if message.cmd == "conditionFailed":
            text = f"condition: {info.get('expression')}\nfailed: {info.get('message')}\n"
            await self.publish(make_output_event(text, "console"))
        elif message.cmd == "dataEnded":
            if changed_breakpoint := self._data.ended_breakpoint(str(info.get("data"))):
                await self.publish(make_event("breakpoint", reason="changed", breakpoint=changed_breakpoint))
        elif message.cmd == "debug_console":
            await self.publish(make_output_event(message.text.removeprefix("[LogPoint Output]: ") + "\n", "stdout"))
        elif message.cmd in ("tip", "tipError"):
            await self.publish(make_output_event(message.text + "\n", "important"))
        elif message.cmd == "output":
            await self.publish(make_output_event(message.text[:_LONGEST_NOTICE] + "\n", "console"))

    async def _handle_stop(self, message: Message) -> None:
        self._stops += 1
        if isinstance(self._client, HelperClient) and self._stops == 1:
            await self._install(self._client)
        elif isinstance(self._client, PlainRuntimeClient):
            self._client.forget()
        stop = await self._build_stop(message)
        self._stop = stop
        if not self._entered.is_set() and await self._is_before_the_program(stop):
            return
        await self._bind()
        if not self._entered.is_set():
            stop.reason = "entry"
            self._entered.set()
            return
        if await self._pause_control.should_skip(stop, self._inspector, self.publish):
            if self._ran not in _STEPS.values():
                await self._run("continue")
                return
            stop.reason = "step"  # it cannot be resumed here, and must not be lost
        await self._publish_stop(stop)

    async def _install(self, helper: HelperClient) -> None:
        """A runtime that says it may load code, and then does not run ours, is one that may load none."""
        try:
            await helper.install()
        except (DragomanError, RemoteProtocolError) as error:
            log.info("a Lua runtime does not run the helper: %s", error)
            self._use_client(PlainRuntimeClient(self._driver))

    async def _is_before_the_program(self, stop: LuaStop) -> bool:
        """The chunk that called the debugger may be code from a command line, which has no file."""
        is_of_a_file = not isinstance(self._client, HelperClient) or not stop.frames or stop.frames[0].get("source")
        if is_of_a_file or self._stops > _STEPS_TO_ENTRY:
            return False
        await self._run("stopOnStepIn")
        return True

    async def _build_stop(self, message: Message) -> LuaStop:
        """With all frames and their names where they can be had: one question a stop."""
        reason = _REASONS.get(message.cmd, "")
        info = message.info if isinstance(message.info, dict) else {}
        frames: list[dict[str, Any]] = [it for it in message.fields.get("stack") or () if isinstance(it, dict)]
        found: Mapping[str, Any] = {"frames": frames, "depth": info.get("depth") or len(frames), **info}
        exception = info if reason == "exception" else None
        if isinstance(self._client, HelperClient):
            found = await self._client.read_stop(self._stops, timeout_s=_ANSWER_TIMEOUT_S)
            exception = found.get("exception")
        if info.get("memory"):
            self._record_memory(str(info["memory"]))
        reason = "exception" if exception else reason or self._pause_control.reason() or "breakpoint"
        return LuaStop(
            number=self._stops,
            reason=reason,
            frames=list(found["frames"]),
            depth=int(found["depth"]),
            cmd=message.cmd,
            coroutine=str(found.get("coroutine") or MAIN_COROUTINE),
            exception=exception,
            change=info if info.get("reason") == "data" else None,
        )

    async def _bind(self) -> None:
        """Files are loaded as the program runs: breakpoints that have not bound yet are checked again at each stop."""
        if self._entered.is_set() and not self._breakpoints.unbound:
            return
        await self._update_chunks(await self._chunks())

    async def _update_chunks(self, chunks: list[LuaChunk]) -> None:
        for changed_breakpoint in await self._breakpoints.update_chunks(chunks):
            await self.publish(make_event("breakpoint", reason="changed", breakpoint=changed_breakpoint))

    async def _chunks(self) -> list[LuaChunk]:
        here = [chunk_from_entry(frame) for frame in (self._stop.frames if self._stop else ())]
        if isinstance(self._client, PlainRuntimeClient):
            return here
        return [*await self._inspector.sources(_ANSWER_TIMEOUT_S), *here]

    async def _publish_stop(self, stop: LuaStop) -> None:
        body: dict[str, Any] = {
            "reason": stop.reason,
            "threadId": self._coroutines.number(stop.coroutine),
            "allThreadsStopped": True,
        }
        if stop.change is not None:
            body["reason"] = "data breakpoint"
            body["text"] = "{name}: {old} -> {new}".format_map(defaultdict(str, stop.change))
            body["hitBreakpointIds"] = self._data.hit(str(stop.change.get("data")))
        elif stop.reason == "breakpoint" and stop.frames:
            hit = self._breakpoints.at(*location_in(stop.frames[0], self._paths))
            body["hitBreakpointIds"] = [place.id for place in hit]
        if stop.exception is not None:
            body["text"] = str(stop.exception.get("text") or "")
        await self.publish(make_event("stopped", **body))

    def _record_memory(self, kib: str) -> None:
        try:
            self.memory_bytes = int(float(kib) * 1024)
        except ValueError:
            log.debug("not a number of KiB: %r", kib[:40])

    # Requests

    async def _set_breakpoints(self, asked: Mapping[str, Any], _: float) -> Any:
        path = str(asked["source"]["path"])
        return {"breakpoints": await self._breakpoints.set(path, asked.get("breakpoints") or ())}

    async def _set_functions(self, asked: Mapping[str, Any], _: float) -> Any:
        return {"breakpoints": await self._breakpoints.set_functions(asked.get("breakpoints") or ())}

    async def _data_info(self, asked: Mapping[str, Any], timeout_s: float) -> Any:
        return await self._data.info(self._current_stop(), asked, timeout_s)

    async def _set_data(self, asked: Mapping[str, Any], _: float) -> Any:
        return {"breakpoints": await self._data.set(asked.get("breakpoints") or ())}

    async def _set_exceptions(self, asked: Mapping[str, Any], _: float) -> None:
        wanted = set(asked.get("filters") or ())
        await self._set_filter(next((word for name, word in _FILTERS.items() if name in wanted), "none"))

    async def _set_filter(self, word: str) -> None:
        if word == self._filter or isinstance(self._client, PlainRuntimeClient):
            return
        await self._client.ask("setExceptions", {"filter": word}, timeout_s=_ANSWER_TIMEOUT_S)
        self._filter = word

    async def _configuration_done(self, _: Mapping[str, Any], __: float) -> None:
        """The program has stopped at its entry: reported as a stop if the configuration asks for it."""
        if self._stop is not None and self._settings.stop_on_entry:
            await self._publish_stop(self._stop)
        else:
            await self._run("continue")

    async def _resume(self, _: Mapping[str, Any], __: float) -> Any:
        await self._run("continue")
        return {"allThreadsContinued": True}

    def _stepper(self, cmd: str) -> LuaRequestHandler:
        async def step(_: Mapping[str, Any], __: float) -> None:
            # An exception leaves the function, so there is no next line.
            await self._run("continue" if self._stop and self._stop.exception else cmd)

        return step

    async def _run(self, cmd: str) -> None:
        if self._stop is None:
            raise AdapterRefusedError(cmd, localized_str(localize("The program is running.")))
        self._stop, self._ran = None, cmd
        await self._driver.ask(cmd, {}, timeout_s=_ANSWER_TIMEOUT_S)

    async def _pause(self, _: Mapping[str, Any], __: float) -> None:
        await self._pause_control.request_pause(self.publish)

    async def _threads(self, _: Mapping[str, Any], timeout_s: float) -> Any:
        if self._stop is None or isinstance(self._client, PlainRuntimeClient):
            return {"threads": [{"id": 1, "name": MAIN_COROUTINE}]}
        return await self._inspector.threads(timeout_s)

    def _at_stop(
        self, look: Callable[[LuaInspector, LuaStop, Mapping[str, Any], float], Awaitable[Any]]
    ) -> LuaRequestHandler:
        async def serve(asked: Mapping[str, Any], timeout_s: float) -> Any:
            return await look(self._inspector, self._current_stop(), asked, timeout_s)

        return serve

    def _current_stop(self) -> LuaStop:
        if self._stop is None:
            raise AdapterRefusedError("look", localized_str(localize("The program is running.")))
        return self._stop

    async def _evaluate(self, asked: Mapping[str, Any], timeout_s: float) -> Any:
        command = parse_path_command(str(asked.get("expression") or ""))
        if command is None:
            return await self._at_stop(LuaInspector.evaluate)(asked, timeout_s)
        return {"result": str(await self._declare_chunk(*command)), "variablesReference": 0}

    async def _declare_chunk(self, name: str, path: str) -> LocalizedText:
        """An offer is taken: from now on the chunk of that name is this file."""
        chunks = await self._chunks()
        meant = next((it for it in chunks if name in (it.plain, it.file, it.opath)), None)
        if meant is None:
            loaded = ", ".join(sorted({chunk.plain or chunk.file for chunk in chunks}))
            raise AdapterRefusedError(
                "path",
                localized_str(localize("Chunk {name} is not loaded. Loaded: {loaded}.", name=name, loaded=loaded)),
            )
        place = self._paths.declare(meant, path)
        await self._update_chunks(chunks)
        return localize("{chunk} now maps to {path}; its breakpoints are set.", chunk=name, path=place)

    async def _exception_info(self, _: Mapping[str, Any], __: float) -> Any:
        exception = self._stop.exception if self._stop else None
        if exception is None:
            raise AdapterRefusedError("exceptionInfo", localized_str(localize("The program did not stop at an error.")))
        text, trace = str(exception.get("text") or ""), str(exception.get("traceback") or "")
        return {
            "exceptionId": "error",
            "description": text,
            "breakMode": "unhandled" if exception.get("uncaught") in (True, "true") else "always",
            "details": {"message": text, "typeName": "error", "stackTrace": trace},
        }

    async def _loaded_sources(self, _: Mapping[str, Any], __: float) -> Any:
        chunks = await self._chunks()
        places = sorted({self._paths.file_of(chunk) for chunk in chunks})
        return {"sources": [{"name": path.rsplit("/", 1)[-1], "path": path} for path in places]}

    async def _collect_garbage(self, _: Mapping[str, Any], __: float) -> None:
        await self._driver.notify("LuaGarbageCollect")


async def _set_when_closed(driver: LuaPandaDriver, event: anyio.Event) -> None:
    await driver.closed.wait()
    event.set()
