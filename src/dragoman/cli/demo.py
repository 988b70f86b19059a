"""`dragoman demo`: an agent with nothing but MCP finds a real bug, told line by line.

The real pump and a real daemon, in a temporary home of their own: a daemon of the user's is not touched, and nothing is
left behind. What the agent concludes is drawn from what it gets; where that is not as told here, the demo fails.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from dragoman.cli import launcher
from dragoman.cli.demo_agent import Agent, agent_in, went_wrong
from dragoman.cli.demo_telling import Teller
from dragoman.cli.output import ExitCode
from dragoman.phrases import say
from dragoman.places import find_places

PROGRAM = "orders.py"
_LINE = "return round(price * (1 - rate), 2)"
_RETURN = "return discounts"
_BUG = "discounts: list[float] = []"
_CALL, _OWN_LIST = "collect_discounts(codes)", "collect_discounts(codes, [])"
_MOST_IN_A_LINE = 160


def demo() -> int:
    began = time.monotonic()
    teller = Teller()
    bug = say("{program} bills three customers, and two totals are wrong. An agent looks for the bug.", program=PROGRAM)
    # The folder first: whoever reads a line and presses Ctrl-C does not meet the making of it, which leaves a file.
    with _own_home() as (workspace, environment):
        teller.say(bug)
        with _interrupted_later():
            launcher.start(find_places(environment), launcher.Wish(workspace, environment=environment))
        with agent_in(workspace, environment) as agent:
            _Hunt(agent, teller, workspace / PROGRAM).tell()
    teller.heading(say("{seconds} seconds, and nothing is left behind.", seconds=f"{time.monotonic() - began:.1f}"))
    teller.say(say("`dragoman setup` connects your own agents; `dragoman debug` does the same from a shell."))
    return ExitCode.OK


@dataclass(frozen=True, slots=True)
class _Hunt:
    agent: Agent
    teller: Teller
    source: Path

    def tell(self) -> None:
        self._introduce()
        self._see_it_fail()
        self._see_all_of_it()
        self._stop_where_it_goes_wrong()
        self._look_for_the_cause()
        self._try_the_remedy()
        self._mend_it()

    def _introduce(self) -> None:
        self.agent.initialize()
        count = len(self.agent.tools())
        self.teller.say(
            say("It has connected over MCP to a daemon of its own, and is offered {count} tools.", count=count)
        )

    def _see_it_fail(self) -> None:
        self.teller.heading(say("1. See it fail"))
        _require("grace 180.0" in self._printed())
        self.teller.thinks(say("grace has no discount code, and still she does not pay the full 200."))

    def _see_all_of_it(self) -> None:
        self.teller.heading(say("2. See the whole run in one call"))
        point = {"line_number": self._line_of(_RETURN), "expressions": ["codes", "discounts"]}
        rows = self._ask("trace", program=PROGRAM, points=[point]).get("rows", ())
        self.teller.gets([f"{row['hit']} | {_changed(row.get('values', {}))}" for row in rows])
        _require(
            [row.get("values") for row in rows[:2]] == [{"codes": "['spring']", "discounts": "[0.1]"}, {"codes": "[]"}]
        )
        self.teller.thinks(say("The second has no codes, and its discounts are still those of the first."))

    def _stop_where_it_goes_wrong(self) -> None:
        self.teller.heading(say("3. Stop where it goes wrong"))
        line = self._line_of(_LINE)
        made = self._ask("set_breakpoint", file_path=PROGRAM, line_number=line, condition="not codes")
        self.teller.gets([f"breakpoint {made['breakpoint']['id']}, {PROGRAM}:{line}, if not codes"])
        stopped = self._ask("start_debugging", program=PROGRAM)
        stop = stopped.get("stop_event_data") or {}
        variables = (stop.get("top_frame_variables") or {}).get("variables", ())
        values = {str(it["name"]): str(it["value"]) for it in variables}
        self.teller.gets([f"{stopped['status']}, {PROGRAM}:{stop.get('line')}  {_LINE}"])
        self.teller.gets([", ".join(f"{name} = {value}" for name, value in values.items())])
        _require((stop.get("line"), values.get("codes"), values.get("rate")) == (line, "[]", "0.1"))
        self.teller.thinks(say("No codes, and yet a rate of 0.1: it must come out of collect_discounts."))

    def _look_for_the_cause(self) -> None:
        self.teller.heading(say("4. Look for the cause"))
        _require(self._evaluated("collect_discounts.__defaults__") == "([0.1],)")
        self.teller.thinks(say("Its default list is made once and not empty: ada's discount is still in it."))

    def _try_the_remedy(self) -> None:
        self.teller.heading(say("5. Try the remedy in the stopped program"))
        _require(self._evaluated(f"round(price * (1 - sum({_OWN_LIST})), 2)") == "200.0")
        self.teller.thinks(say("With a list of its own the total is right. That is the bug."))
        self._ask("stop_debugging")

    def _mend_it(self) -> None:
        self.teller.heading(say("6. Mend it, and see"))
        cause, place = self._line_of(_BUG), self._line_of(_CALL)
        text = self.source.read_text(encoding="utf-8").replace(_CALL, _OWN_LIST)
        self.source.write_text(text, encoding="utf-8")
        self.teller.writes(f"{PROGRAM}:{place}  {text.splitlines()[place - 1].strip()}")
        _require(self._printed() == ["ada 90.0", "grace 200.0", "alan 45.0"])
        self.teller.thinks(
            say(
                "{program}:{line} was it: a list as a default value is shared by all calls.",
                program=PROGRAM,
                line=cause,
            )
        )

    def _printed(self) -> list[str]:
        """The whole program, without stopping."""
        ended = self._ask("start_debugging", program=PROGRAM, no_debug=True)
        lines = str(ended.get("output", "")).splitlines()
        self.teller.gets([f"{ended.get('status')}, exit code {ended.get('exit_code')}", " / ".join(lines)])
        return lines

    def _evaluated(self, expression: str) -> str:
        result = str(self._ask("evaluate_expression", expression=expression).get("result", ""))
        self.teller.gets([result])
        return result

    def _ask(self, tool: str, **arguments: Any) -> dict[str, Any]:
        self.teller.asks(tool, arguments)
        answer = self.agent.call(tool, **arguments)
        if answer.get("status") == "error":
            raise went_wrong(f"{tool}: {str(answer.get('message', ''))[:_MOST_IN_A_LINE]}")
        return answer

    def _line_of(self, text: str) -> int:
        lines = self.source.read_text(encoding="utf-8").splitlines()
        return next(number for number, line in enumerate(lines, 1) if text in line)


def _changed(values: Mapping[str, str]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items())


def _require(as_told: bool) -> None:
    if not as_told:
        raise went_wrong(PROGRAM)


@contextmanager
def _own_home() -> Iterator[tuple[Path, Mapping[str, str]]]:
    """A second Ctrl-C must not keep the first from leaving nothing behind."""
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
            launcher.end(find_places(environment))
        finally:
            shutil.rmtree(find_places(environment).runtime, ignore_errors=True)  # elsewhere if the folder is deep
            shutil.rmtree(folder, ignore_errors=True)
            signal.signal(signal.SIGINT, before)


@contextmanager
def _interrupted_later() -> Iterator[None]:
    """A daemon that is half started cannot be ended yet, and would be left behind."""
    pressed: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt


def _environment(home: Path) -> Mapping[str, str]:
    """Without the user's own settings and virtual environment; the interpreter behind ours is there in any case."""
    ours = ("DRAGOMAN_", "VIRTUAL_ENV", "CONDA_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    path = os.pathsep.join(filter(None, (str(Path(sys.base_prefix) / "bin"), kept.get("PATH"))))
    return {**kept, "PATH": path, "DRAGOMAN_HOME": str(home), "DRAGOMAN_PORT": "0"}
