"""The demo's agent as the page runs it: against the daemon that started it, slowly, and as lines of JSON.

The daemon runs it as `python -m dragoman.cli.page_demo FOLDER SECONDS`.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from typing import Any

from dragoman.cli.demo import PROGRAM, DemoAgent, DemoScript, agent_environment, start_agent
from dragoman.cli.output import ExitCode, render
from dragoman.core.errors import DragomanError
from dragoman.core.localization import LocalizedText


class JsonPrinter:
    """Prints what the agent asks, gets and concludes as lines of JSON, and pauses so that a person can follow."""

    def __init__(self, pace_s: float) -> None:
        self._pace_s = pace_s

    def line(self, kind: str, text: str) -> None:
        sys.stdout.write(json.dumps({"kind": kind, "text": text}) + "\n")
        sys.stdout.flush()

    def show(self, localized: LocalizedText) -> None:
        self.line("intro", render(localized))

    def heading(self, localized: LocalizedText) -> None:
        self.line("heading", render(localized))

    def asks(self, tool: str, arguments: dict[str, Any]) -> None:
        given = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in arguments.items())
        self.line("asks", f"{tool}({given})")
        time.sleep(self._pace_s / 2)

    def gets(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.line("gets", line)

    def writes(self, line: str) -> None:
        self.line("writes", line)

    def thinks(self, localized: LocalizedText) -> None:
        self.line("thinks", render(localized))
        time.sleep(2 * self._pace_s)


def run(folder: Path, pace_s: float) -> int:
    printer = JsonPrinter(pace_s)
    printer.line("folder", str(folder))
    program = folder / PROGRAM
    program.write_text(files("dragoman.cli").joinpath("demo_program", "orders.txt").read_text("utf-8"), "utf-8")
    began = time.monotonic()
    try:
        with start_agent(folder, agent_environment()) as agent:
            _run_script(agent, printer, program)
    except DragomanError as error:
        printer.line("failed", render(error.message))
        return ExitCode.FAILED
    printer.line("done", f"{time.monotonic() - began:.0f}")
    return ExitCode.OK


def _run_script(agent: DemoAgent, printer: JsonPrinter, program: Path) -> None:
    try:
        DemoScript(agent, printer, program).run()
    except BaseException:
        # Its program must not stay halted after a person stopped the demo.
        with contextlib.suppress(DragomanError):
            agent.call("stop_debugging")
        raise


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(run(Path(sys.argv[1]), float(sys.argv[2])))
