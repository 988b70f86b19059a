"""`dragoman demo`: an MCP agent finds a real bug, and every call is printed.

It runs the real `dragoman mcp` and a real daemon in a temporary home. The user's own daemon is not touched, and
nothing is left behind. The agent's conclusions are checked against the answers it gets; where they differ, the demo
fails.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol

from rich.console import Console
from rich.text import Text

from dragoman import __version__
from dragoman.cli.daemon import launcher
from dragoman.cli.output import ExitCode, render
from dragoman.core.errors import ErrorSpec
from dragoman.core.localization import LocalizedText, localize, preferred_language
from dragoman.core.paths import find_paths
from dragoman.core.safe_text import printable

_PROTOCOL_VERSION = "2025-06-18"
_ANSWER_TIMEOUT_S = 30.0
_EXIT_TIMEOUT_S = 5.0
_INDENT = "  "
PROGRAM = "orders.py"
_STOP_LINE = "return round(price * (1 - rate), 2)"
_TRACE_LINE = "return discounts"
_BUG_LINE = "discounts: list[float] = []"
_MAX_LINE_LENGTH = 160


class DemoAgent:
    """The agent of the demo: a small MCP client over standard input and output."""

    def __init__(self, pump: subprocess.Popen[bytes]) -> None:
        assert pump.stdin is not None
        assert pump.stdout is not None
        self._write, self._read = pump.stdin, pump.stdout.fileno()
        self._rest = b""
        self._last_id = 0

    def initialize(self) -> dict[str, Any]:
        client = {"name": "dragoman-demo", "version": __version__}
        params = {"protocolVersion": _PROTOCOL_VERSION, "capabilities": {}, "clientInfo": client}
        answer = self._request("initialize", params)
        self._send({"method": "notifications/initialized"})
        return answer

    def tools(self) -> list[str]:
        return [str(tool["name"]) for tool in self._request("tools/list", {})["tools"]]

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its structured content, also if it is an error."""
        result = self._request("tools/call", {"name": tool, "arguments": arguments})
        content: dict[str, Any] = result.get("structuredContent") or {}
        return content

    def _request(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        self._last_id += 1
        self._send({"id": self._last_id, "method": method, "params": params})
        for message in self._messages():
            if message.get("id") == self._last_id and "result" in message:
                result: dict[str, Any] = message["result"]
                return result
            if message.get("id") == self._last_id:
                break
        raise demo_failed(what=method)

    def _send(self, message: Mapping[str, Any]) -> None:
        try:
            self._write.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            self._write.flush()
        except OSError as error:
            raise demo_failed(what=str(message["method"])) from error

    def _messages(self) -> Iterator[dict[str, Any]]:
        deadline = time.monotonic() + _ANSWER_TIMEOUT_S
        while select.select([self._read], [], [], max(0.0, deadline - time.monotonic()))[0]:
            data = os.read(self._read, 1 << 16)
            if not data:
                return
            *lines, self._rest = (self._rest + data).split(b"\n")
            yield from (json.loads(line) for line in lines if line)


@contextmanager
def start_agent(workspace: Path, environment: Mapping[str, str]) -> Iterator[DemoAgent]:
    """Start `dragoman mcp` as a client does, in its own process session so that Ctrl-C reaches only the demo."""
    command = [sys.executable, "-P", "-m", "dragoman.cli.main", "mcp", "--workspace", str(workspace)]
    language = {"DRAGOMAN_LANG": preferred_language()}
    pump = subprocess.Popen(  # noqa: S603  our own interpreter, a list of arguments
        command,
        env={**environment, **language},
        cwd=workspace,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield DemoAgent(pump)
    finally:
        _end_process(pump)


def _end_process(pump: subprocess.Popen[bytes]) -> None:
    """Close its input, so that it exits."""
    with pump:
        with contextlib.suppress(OSError):
            assert pump.stdin is not None
            pump.stdin.close()
        try:
            pump.wait(_EXIT_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            pump.kill()


demo_failed = ErrorSpec(
    "demo_failed",
    "The demo failed: {what}.",
    "Run `dragoman doctor` to find the problem. If it finds nothing, please report this.",
)


_LABELS = {
    "asks": localize("asks"),
    "gets": localize("gets"),
    "thinks": localize("thinks"),
    "writes": localize("writes"),
}
_STYLES = {"asks": "bold cyan", "gets": "default", "thinks": "green", "writes": "bold cyan"}


class DemoOutput(Protocol):
    """Where the script of the demo reports what the agent does."""

    def show(self, localized: LocalizedText) -> None: ...

    def heading(self, localized: LocalizedText) -> None: ...

    def asks(self, tool: str, arguments: dict[str, Any]) -> None: ...

    def gets(self, lines: Iterable[str]) -> None: ...

    def writes(self, line: str) -> None: ...

    def thinks(self, localized: LocalizedText) -> None: ...


class DemoPrinter:
    """Prints what the agent asks, gets and concludes: in colour on a terminal, plain text elsewhere."""

    def __init__(self) -> None:
        self._console = Console(file=sys.stdout, highlight=False, soft_wrap=True)
        self._width = max(len(render(label)) for label in _LABELS.values())

    def show(self, localized: LocalizedText, style: str = "") -> None:
        self._console.print(Text(printable(render(localized)), style))

    def heading(self, localized: LocalizedText) -> None:
        self._console.print()
        self.show(localized, "bold")

    def asks(self, tool: str, arguments: dict[str, Any]) -> None:
        given = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in arguments.items())
        self._line("asks", f"{tool}({given})")

    def gets(self, lines: Iterable[str]) -> None:
        """Print the program's text with escapes, because it reaches a terminal here."""
        for line in lines:
            self._line("gets", line)

    def writes(self, line: str) -> None:
        self._line("writes", line)

    def thinks(self, localized: LocalizedText) -> None:
        self._line("thinks", render(localized))

    def _line(self, kind: str, text: str) -> None:
        label = render(_LABELS[kind])
        pad = " " * (self._width - len(label) + 2)
        self._console.print(Text.assemble(_INDENT, (label, "dim"), pad, (printable(text), _STYLES[kind])))


_CALL, _OWN_LIST = "collect_discounts(codes)", "collect_discounts(codes, [])"


def demo() -> int:
    began = time.monotonic()
    printer = DemoPrinter()
    bug = localize(
        "{program} bills three customers, and two totals are wrong. An agent looks for the bug.", program=PROGRAM
    )
    # Create the folder before the first line is printed: a Ctrl-C while it is being created would leave a file behind.
    with _temporary_home() as (workspace, environment):
        printer.show(bug)
        with _defer_interrupt():
            launcher.start(find_paths(environment), launcher.DaemonStartOptions(workspace, environment=environment))
        with start_agent(workspace, environment) as agent:
            DemoScript(agent, printer, workspace / PROGRAM).run()
    printer.heading(
        localize(
            "Done in {seconds} seconds. Nothing was left on this machine.", seconds=f"{time.monotonic() - began:.1f}"
        )
    )
    printer.show(
        localize("Connect your own agents with `dragoman setup`, or debug from a shell with `dragoman debug`.")
    )
    return ExitCode.OK


@dataclass(frozen=True, slots=True)
class DemoScript:
    agent: DemoAgent
    printer: DemoOutput
    source: Path

    def run(self) -> None:
        self._introduce()
        self._see_it_fail()
        self._see_all_of_it()
        self._stop_where_it_goes_wrong()
        self._look_for_the_cause()
        self._try_the_remedy()
        self._fix_it()

    def _introduce(self) -> None:
        self.agent.initialize()
        count = len(self.agent.tools())
        self.printer.show(localize("It is connected to its own daemon over MCP and has {count} tools.", count=count))

    def _see_it_fail(self) -> None:
        self.printer.heading(localize("1. Reproduce the failure"))
        _require("grace 180.0" in self._printed())
        self.printer.thinks(localize("grace has no discount code, but does not pay the full 200."))

    def _see_all_of_it(self) -> None:
        self.printer.heading(localize("2. Trace the whole run in one call"))
        point = {"line_number": self._line_of(_TRACE_LINE), "expressions": ["codes", "discounts"]}
        rows = self._ask("trace", program=PROGRAM, points=[point]).get("rows", ())
        self.printer.gets([f"{row['hit']} | {_format_values(row.get('values', {}))}" for row in rows])
        _require(
            [row.get("values") for row in rows[:2]] == [{"codes": "['spring']", "discounts": "[0.1]"}, {"codes": "[]"}]
        )
        self.printer.thinks(localize("The second customer has no codes but still has the discounts of the first."))

    def _stop_where_it_goes_wrong(self) -> None:
        self.printer.heading(localize("3. Stop where it goes wrong"))
        line = self._line_of(_STOP_LINE)
        made = self._ask("set_breakpoint", file_path=PROGRAM, line_number=line, condition="not codes")
        self.printer.gets([f"breakpoint {made['breakpoint']['id']}, {PROGRAM}:{line}, if not codes"])
        stopped = self._ask("start_debugging", program=PROGRAM)
        stop = stopped.get("stop_event_data") or {}
        variables = (stop.get("top_frame_variables") or {}).get("variables", ())
        values = {str(it["name"]): str(it["value"]) for it in variables}
        self.printer.gets([f"{stopped['status']}, {PROGRAM}:{stop.get('line')}  {_STOP_LINE}"])
        self.printer.gets([", ".join(f"{name} = {value}" for name, value in values.items())])
        _require((stop.get("line"), values.get("codes"), values.get("rate")) == (line, "[]", "0.1"))
        self.printer.thinks(localize("No codes, but a rate of 0.1: it must come from collect_discounts."))

    def _look_for_the_cause(self) -> None:
        self.printer.heading(localize("4. Find the cause"))
        _require(self._evaluated("collect_discounts.__defaults__") == "([0.1],)")
        self.printer.thinks(
            localize("The default list is created only once and is not empty: it still holds ada's discount.")
        )

    def _try_the_remedy(self) -> None:
        self.printer.heading(localize("5. Try the fix in the stopped program"))
        _require(self._evaluated(f"round(price * (1 - sum({_OWN_LIST})), 2)") == "200.0")
        self.printer.thinks(localize("With its own list, the total is right. That is the bug."))
        self._ask("stop_debugging")

    def _fix_it(self) -> None:
        self.printer.heading(localize("6. Fix it and verify"))
        cause, place = self._line_of(_BUG_LINE), self._line_of(_CALL)
        text = self.source.read_text(encoding="utf-8").replace(_CALL, _OWN_LIST)
        self.source.write_text(text, encoding="utf-8")
        self.printer.writes(f"{PROGRAM}:{place}  {text.splitlines()[place - 1].strip()}")
        _require(self._printed() == ["ada 90.0", "grace 200.0", "alan 45.0"])
        self.printer.thinks(
            localize(
                "The cause is {program}:{line}: a list used as a default value is shared by all calls.",
                program=PROGRAM,
                line=cause,
            )
        )

    def _printed(self) -> list[str]:
        """Run the whole program without stopping and return its output."""
        ended = self._ask("start_debugging", program=PROGRAM, no_debug=True)
        lines = str(ended.get("output", "")).splitlines()
        self.printer.gets([f"{ended.get('status')}, exit code {ended.get('exit_code')}", " / ".join(lines)])
        return lines

    def _evaluated(self, expression: str) -> str:
        result = str(self._ask("evaluate_expression", expression=expression).get("result", ""))
        self.printer.gets([result])
        return result

    def _ask(self, tool: str, **arguments: Any) -> dict[str, Any]:
        self.printer.asks(tool, arguments)
        answer = self.agent.call(tool, **arguments)
        if answer.get("status") == "error":
            raise demo_failed(what=f"{tool}: {str(answer.get('message', ''))[:_MAX_LINE_LENGTH]}")
        return answer

    def _line_of(self, text: str) -> int:
        lines = self.source.read_text(encoding="utf-8").splitlines()
        return next(number for number, line in enumerate(lines, 1) if text in line)


def _format_values(values: Mapping[str, str]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items())


def _require(is_expected: bool) -> None:
    if not is_expected:
        raise demo_failed(what=PROGRAM)


@contextmanager
def _temporary_home() -> Iterator[tuple[Path, Mapping[str, str]]]:
    """A temporary home. A second Ctrl-C does not interrupt its removal."""
    folder = Path(tempfile.mkdtemp(prefix="dragoman-demo-")).resolve()
    environment = _environment(folder / "home")
    try:
        workspace = folder / "examples"
        workspace.mkdir()
        shipped = files("dragoman.cli").joinpath("demo_program", "orders.txt").read_text(encoding="utf-8")
        (workspace / PROGRAM).write_text(shipped, encoding="utf-8")
        yield workspace, environment
    finally:
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            launcher.end(find_paths(environment))
        finally:
            # Sockets of a home with a long path are in another folder.
            shutil.rmtree(find_paths(environment).runtime, ignore_errors=True)
            shutil.rmtree(folder, ignore_errors=True)
            signal.signal(signal.SIGINT, before)


@contextmanager
def _defer_interrupt() -> Iterator[None]:
    """Delay Ctrl-C until the daemon has started: one that is half started cannot be stopped and would be left
    behind.
    """
    pressed: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt


def _environment(home: Path) -> Mapping[str, str]:
    """The environment without the user's settings and virtual environment."""
    kept = {name: value for name, value in agent_environment().items() if not name.startswith("DRAGOMAN_")}
    return {**kept, "DRAGOMAN_HOME": str(home), "DRAGOMAN_PORT": "0"}


def agent_environment() -> Mapping[str, str]:
    """The environment without the user's virtual environment. The interpreter is found in any case."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("VIRTUAL_ENV", "CONDA_"))}
    path = os.pathsep.join(filter(None, (str(Path(sys.base_prefix) / "bin"), kept.get("PATH"))))
    return {**kept, "PATH": path}
