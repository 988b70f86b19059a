"""Between DAP and one connection to a Lua runtime: what it says becomes events, what is asked becomes commands."""

from __future__ import annotations

import contextlib
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio
from anyio.abc import TaskGroup

from dragoman.debug.backend import AdapterRefusedError
from dragoman.debug.luapanda.advice import read_path_line
from dragoman.debug.luapanda.bare import Bare
from dragoman.debug.luapanda.breakpoints import Breakpoints
from dragoman.debug.luapanda.data import FEATURE, DataBreakpoints
from dragoman.debug.luapanda.inside import Helper, Inside, Native
from dragoman.debug.luapanda.looking import Looking, chunk_of
from dragoman.debug.luapanda.paths import Chunk, PathMap
from dragoman.debug.luapanda.pausing import Pausing, place_in
from dragoman.debug.luapanda.settings import LuaSettings
from dragoman.debug.luapanda.stop import MAIN, Coroutines, LuaStop
from dragoman.debug.messages import made, output
from dragoman.errors import DragomanError, RemoteProtocolError
from dragoman.phrases import Phrase, say, spoken
from dragoman.transport.luapanda_driver import LuaPandaDriver
from dragoman.wire.dap import Event
from dragoman.wire.luapanda import Message

log = logging.getLogger(__name__)

_ANSWERED_WITHIN_S = 5.0
_MESSAGES = 256
_NOTICED = 2_000  # characters of a line that people are shown
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

Serve = Callable[[Mapping[str, Any], float], Awaitable[Any]]


class Bridge:
    def __init__(self, settings: LuaSettings, paths: PathMap) -> None:
        self.tell: Callable[[Event], Awaitable[None]]
        self.memory_bytes: int | None = None
        self._settings = settings
        self._paths = paths
        self._coroutines = Coroutines()
        self._stop: LuaStop | None = None
        self._stops = 0
        self._ran = ""
        self._entered = anyio.Event()
        self._fault: DragomanError | RemoteProtocolError | None = None
        """Why nothing can be set up at the entry."""
        self._filter = "none"
        self._is_open = False
        self._heard, self._to_hear = anyio.create_memory_object_stream[Message](_MESSAGES)
        self._driver: LuaPandaDriver
        self._inside: Inside
        self._looking: Looking
        self._breakpoints: Breakpoints
        self._pausing: Pausing
        self._data: DataBreakpoints
        self.served: dict[str, Serve] = {
            "setBreakpoints": self._set_breakpoints,
            "setFunctionBreakpoints": self._set_functions,
            "dataBreakpointInfo": self._data_info,
            "setDataBreakpoints": self._set_data,
            "setExceptionBreakpoints": self._set_exceptions,
            "configurationDone": self._configured,
            "continue": self._resume,
            **{command: self._stepper(cmd) for command, cmd in _STEPS.items()},
            "pause": self._pause,
            "threads": self._threads,
            "stackTrace": self._stopped(Looking.stack),
            "scopes": self._stopped(Looking.scopes),
            "variables": self._stopped(Looking.variables),
            "evaluate": self._evaluate,
            "setVariable": self._stopped(Looking.set_variable),
            "setExpression": self._stopped(Looking.set_expression),
            "exceptionInfo": self._exception_info,
            "loadedSources": self._loaded_sources,
            "collectGarbage": self._collect_garbage,
        }

    # The life.

    async def greet(self, driver: LuaPandaDriver, *, within_s: float) -> None:
        """The IDE speaks first. The answer is all that is ever told of who is there."""
        await driver.ask("initSuccess", self._settings.init(), timeout_s=within_s)

    async def open(self, driver: LuaPandaDriver, group: TaskGroup) -> None:
        """Until the program stands at its entry, and what is needed there is set up."""
        self._driver = driver
        self._ask_through(self._chosen(driver))
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

    def _chosen(self, driver: LuaPandaDriver) -> Inside:
        runtime = driver.connection.runtime
        if runtime is not None and runtime.is_extended:
            return Native(driver)
        return Helper(driver) if runtime is not None and runtime.has_loadstring else Bare(driver)

    def _ask_through(self, inside: Inside) -> None:
        self._inside = inside
        self._looking = Looking(inside, self._paths, self._coroutines)
        self._breakpoints = Breakpoints(self._driver, inside, self._paths, self._settings)
        self._pausing = Pausing(self._driver, inside, self._breakpoints, self._paths)
        runtime = self._driver.connection.runtime
        has_data = isinstance(inside, Native) and runtime is not None and FEATURE in runtime.features
        self._data = DataBreakpoints(inside, self._looking, is_there=has_data)

    def close(self) -> None:
        self._stop = None
        self._heard.close()
        self._to_hear.close()

    async def detach(self) -> None:
        """The program goes on, without breakpoints, and does not die of it.

        Said at once, in this order: a running program may read it all in two seconds, and never again."""
        if not self._is_open or self._driver.closed.is_set():
            return
        try:
            async with anyio.create_task_group() as group:
                self._breakpoints.clear(group)
                group.start_soon(self._undo)
                group.start_soon(self._say_goodbye)
        except* DragomanError as errors:
            log.info("a Lua program was left without a goodbye: %s", errors.exceptions[0])
        finally:
            await self._driver.close()

    async def _undo(self) -> None:
        """What was changed in the program beside its breakpoints."""
        if isinstance(self._inside, Helper):
            await self._inside.ask("leave", {}, timeout_s=_ANSWERED_WITHIN_S)
        else:
            await self._data.set(())
            await self._set_filter("none")

    async def _say_goodbye(self) -> None:
        """Not where the program listens: it would never read again."""
        if self._settings.way != "connecting":
            extra = {"attach": False} if isinstance(self._inside, Native) else {}
            await self._driver.ask("stopRun", extra, timeout_s=_ANSWERED_WITHIN_S)

    # What the runtime says.

    async def hear(self, message: Message) -> None:
        """In the reader's task: what needs an answer is done in another."""
        if message.cmd == "refreshLuaMemory":
            self._weigh(message.text)
        else:
            with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
                await self._heard.send(message)

    async def _handle(self) -> None:
        async for message in self._to_hear:
            try:
                await (self._take_notice(message) if message.stack is None else self._take_stop(message))
            except (DragomanError, RemoteProtocolError) as error:
                log.info("a message of a Lua runtime was passed over: %s", error)
                if message.stack is not None and not self._entered.is_set():
                    self._fault = error
                    self._entered.set()

    async def _take_notice(self, message: Message) -> None:
        info = message.info if isinstance(message.info, dict) else {}
        if message.cmd == "conditionFailed":
            text = f"condition: {info.get('expression')}\nfailed: {info.get('message')}\n"
            await self.tell(output(text, "console"))
        elif message.cmd == "dataEnded":
            if told := self._data.over(str(info.get("data"))):
                await self.tell(made("breakpoint", reason="changed", breakpoint=told))
        elif message.cmd == "debug_console":
            await self.tell(output(message.text.removeprefix("[LogPoint Output]: ") + "\n", "stdout"))
        elif message.cmd in ("tip", "tipError"):
            await self.tell(output(message.text + "\n", "important"))
        elif message.cmd == "output":
            await self.tell(output(message.text[:_NOTICED] + "\n", "console"))

    async def _take_stop(self, message: Message) -> None:
        self._stops += 1
        if isinstance(self._inside, Helper) and self._stops == 1:
            await self._install(self._inside)
        elif isinstance(self._inside, Bare):
            self._inside.forget()
        stop = await self._made(message)
        self._stop = stop
        if not self._entered.is_set() and await self._is_before_the_program(stop):
            return
        await self._bind()
        if not self._entered.is_set():
            stop.reason = "entry"
            self._entered.set()
            return
        if await self._pausing.passes_over(stop, self._looking, self.tell):
            if self._ran not in _STEPS.values():
                await self._run("continue")
                return
            stop.reason = "step"  # it cannot be taken up again from here, and must not be lost
        await self._tell_stop(stop)

    async def _install(self, helper: Helper) -> None:
        """A runtime that says it may load code, and then does not run ours, is one that may load none."""
        try:
            await helper.install()
        except (DragomanError, RemoteProtocolError) as error:
            log.info("a Lua runtime does not run the helper: %s", error)
            self._ask_through(Bare(self._driver))

    async def _is_before_the_program(self, stop: LuaStop) -> bool:
        """What called for the debugger may be code from a command line, which says nothing about files."""
        is_of_a_file = not isinstance(self._inside, Helper) or not stop.frames or stop.frames[0].get("source")
        if is_of_a_file or self._stops > _STEPS_TO_ENTRY:
            return False
        await self._run("stopOnStepIn")
        return True

    async def _made(self, message: Message) -> LuaStop:
        """With all frames and their names where they can be had: one question a stop."""
        reason = _REASONS.get(message.cmd, "")
        info = message.info if isinstance(message.info, dict) else {}
        frames: list[dict[str, Any]] = [it for it in message.fields.get("stack") or () if isinstance(it, dict)]
        found: Mapping[str, Any] = {"frames": frames, "depth": info.get("depth") or len(frames), **info}
        exception = info if reason == "exception" else None
        if isinstance(self._inside, Helper):
            found = await self._inside.look(self._stops, timeout_s=_ANSWERED_WITHIN_S)
            exception = found.get("exception")
        if info.get("memory"):
            self._weigh(str(info["memory"]))
        reason = "exception" if exception else reason or self._pausing.reason() or "breakpoint"
        return LuaStop(
            number=self._stops,
            reason=reason,
            frames=list(found["frames"]),
            depth=int(found["depth"]),
            cmd=message.cmd,
            coroutine=str(found.get("coroutine") or MAIN),
            exception=exception,
            change=info if info.get("reason") == "data" else None,
        )

    async def _bind(self) -> None:
        """Files are loaded as the program goes: what has not bound yet is looked at anew at each stop."""
        if self._entered.is_set() and not self._breakpoints.unbound:
            return
        await self._learn(await self._chunks())

    async def _learn(self, chunks: list[Chunk]) -> None:
        for told in await self._breakpoints.learn(chunks):
            await self.tell(made("breakpoint", reason="changed", breakpoint=told))

    async def _chunks(self) -> list[Chunk]:
        here = [chunk_of(frame) for frame in (self._stop.frames if self._stop else ())]
        if isinstance(self._inside, Bare):
            return here
        return [*await self._looking.sources(_ANSWERED_WITHIN_S), *here]

    async def _tell_stop(self, stop: LuaStop) -> None:
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
            hit = self._breakpoints.at(*place_in(stop.frames[0], self._paths))
            body["hitBreakpointIds"] = [place.id for place in hit]
        if stop.exception is not None:
            body["text"] = str(stop.exception.get("text") or "")
        await self.tell(made("stopped", **body))

    def _weigh(self, kib: str) -> None:
        try:
            self.memory_bytes = int(float(kib) * 1024)
        except ValueError:
            log.debug("not a number of KiB: %r", kib[:40])

    # What is asked.

    async def _set_breakpoints(self, asked: Mapping[str, Any], _: float) -> Any:
        path = str(asked["source"]["path"])
        return {"breakpoints": await self._breakpoints.set(path, asked.get("breakpoints") or ())}

    async def _set_functions(self, asked: Mapping[str, Any], _: float) -> Any:
        return {"breakpoints": await self._breakpoints.set_functions(asked.get("breakpoints") or ())}

    async def _data_info(self, asked: Mapping[str, Any], timeout_s: float) -> Any:
        return await self._data.info(self._standing(), asked, timeout_s)

    async def _set_data(self, asked: Mapping[str, Any], _: float) -> Any:
        return {"breakpoints": await self._data.set(asked.get("breakpoints") or ())}

    async def _set_exceptions(self, asked: Mapping[str, Any], _: float) -> None:
        wanted = set(asked.get("filters") or ())
        await self._set_filter(next((word for name, word in _FILTERS.items() if name in wanted), "none"))

    async def _set_filter(self, word: str) -> None:
        if word == self._filter or isinstance(self._inside, Bare):
            return
        await self._inside.ask("setExceptions", {"filter": word}, timeout_s=_ANSWERED_WITHIN_S)
        self._filter = word

    async def _configured(self, _: Mapping[str, Any], __: float) -> None:
        """The program stands at its entry: told as a stop where that is wanted."""
        if self._stop is not None and self._settings.stop_on_entry:
            await self._tell_stop(self._stop)
        else:
            await self._run("continue")

    async def _resume(self, _: Mapping[str, Any], __: float) -> Any:
        await self._run("continue")
        return {"allThreadsContinued": True}

    def _stepper(self, cmd: str) -> Serve:
        async def step(_: Mapping[str, Any], __: float) -> None:
            # What was raised leaves the function: there is no next line.
            await self._run("continue" if self._stop and self._stop.exception else cmd)

        return step

    async def _run(self, cmd: str) -> None:
        if self._stop is None:
            raise AdapterRefusedError(cmd, spoken(say("The program runs.")))
        self._stop, self._ran = None, cmd
        await self._driver.ask(cmd, {}, timeout_s=_ANSWERED_WITHIN_S)

    async def _pause(self, _: Mapping[str, Any], __: float) -> None:
        await self._pausing.begin(self.tell)

    async def _threads(self, _: Mapping[str, Any], timeout_s: float) -> Any:
        if self._stop is None or isinstance(self._inside, Bare):
            return {"threads": [{"id": 1, "name": MAIN}]}
        return await self._looking.threads(timeout_s)

    def _stopped(self, look: Callable[[Looking, LuaStop, Mapping[str, Any], float], Awaitable[Any]]) -> Serve:
        async def serve(asked: Mapping[str, Any], timeout_s: float) -> Any:
            return await look(self._looking, self._standing(), asked, timeout_s)

        return serve

    def _standing(self) -> LuaStop:
        if self._stop is None:
            raise AdapterRefusedError("look", spoken(say("The program runs.")))
        return self._stop

    async def _evaluate(self, asked: Mapping[str, Any], timeout_s: float) -> Any:
        named = read_path_line(str(asked.get("expression") or ""))
        if named is None:
            return await self._stopped(Looking.evaluate)(asked, timeout_s)
        return {"result": str(await self._declare(*named)), "variablesReference": 0}

    async def _declare(self, name: str, path: str) -> Phrase:
        """An offer is taken: from now on the chunk of that name is this file."""
        chunks = await self._chunks()
        meant = next((it for it in chunks if name in (it.plain, it.file, it.opath)), None)
        if meant is None:
            loaded = ", ".join(sorted({chunk.plain or chunk.file for chunk in chunks}))
            raise AdapterRefusedError(
                "path", spoken(say("No chunk {name} is loaded: {loaded}.", name=name, loaded=loaded))
            )
        place = self._paths.declare(meant, path)
        await self._learn(chunks)
        return say("{chunk} is {path} from now on; breakpoints in it have been set.", chunk=name, path=place)

    async def _exception_info(self, _: Mapping[str, Any], __: float) -> Any:
        exception = self._stop.exception if self._stop else None
        if exception is None:
            raise AdapterRefusedError("exceptionInfo", spoken(say("The program did not stop for an error.")))
        text, trace = str(exception.get("text") or ""), str(exception.get("traceback") or "")
        return {
            "exceptionId": "error",
            "description": text,
            "breakMode": "unhandled" if exception.get("uncaught") in (True, "true") else "always",
            "details": {"message": text, "typeName": "error", "stackTrace": trace},
        }

    async def _loaded_sources(self, _: Mapping[str, Any], __: float) -> Any:
        chunks = await self._chunks()
        places = sorted({self._paths.place_of(chunk) for chunk in chunks})
        return {"sources": [{"name": path.rsplit("/", 1)[-1], "path": path} for path in places]}

    async def _collect_garbage(self, _: Mapping[str, Any], __: float) -> None:
        await self._driver.tell("LuaGarbageCollect")


async def _set_when_closed(driver: LuaPandaDriver, event: anyio.Event) -> None:
    await driver.closed.wait()
    event.set()
