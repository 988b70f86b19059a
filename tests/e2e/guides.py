"""Runs the examples of a guide: shell commands in one bash per guide, tool calls through `dragoman mcp`.

A block fenced as `console` has commands behind `$` (their further lines behind `>`), each followed by what it prints. A
block fenced as `mcp` has tool calls, a name and a JSON object, each followed by the text that the model gets. A
line `…` stands for any lines, and `…` in a line for any text. `<!-- not run: reason -->` before a block excludes it.

A command must exit with 0, unless the next command is `echo $?`, which prints the code.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bench.agent import Agent, agent_in
from tests.daemons import PATIENCE

_FENCE = re.compile(
    r"^(?:<!-- not run: (?P<reason>[^\n]*?) -->\n+)?```(?P<kind>[a-z]*)\n(?P<body>.*?)^```$", re.DOTALL | re.MULTILINE
)
_CALL = re.compile(r"^([a-z_]+) +(?=\{)")
_WITHIN_S = 60.0
# What differs from run to run.
_VARYING = tuple(
    (re.compile(pattern), name)
    for pattern, name in (
        (r"\b(debug|code)-[0-9a-f]{16,}[\w.-]*", "ID"),
        (r"\b([0-9a-f]{32}|[0-9a-f]{16})\b", "ID"),
        (r"#?\b[1-9]0000\d\d\b", "NUMBER"),
        (r"\bbreakpoint \d+", "breakpoint NUMBER"),
        (r"^\d+  (?=\d{4}-)", "NUMBER  "),
        (r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?Z?)?", "TIME"),
        (r"\bbak-\d{8}-\d{6}\b", "TIME"),
        (r"\b\d\d:\d\d:\d\d(\.\d+)?\b", "TIME"),
        (r"\b\d+(\.\d+)? ?(s|ms|min|MB|KB)\b", "AMOUNT"),
        (r"(?<=127\.0\.0\.1:)\d+|(?<=localhost:)\d+", "PORT"),
        (r"\b(pid|process) \d+", "PID"),
        (r"\b0x[0-9a-f]{6,}", "ADDRESS"),
        (r"\b\d+\.\d+\.\d+\b", "VERSION"),
        (r"(?<=^interpreter: ).+", "PATH"),
    )
)


@dataclass(frozen=True)
class Example:
    """One command or one tool call, and the lines that it prints."""

    kind: str
    command: str
    printed: tuple[str, ...]
    line: int


@dataclass(frozen=True)
class Block:
    kind: str
    body: str
    line: int
    not_run: str | None

    @property
    def examples(self) -> list[Example]:
        return list(_shell_examples(self) if self.kind == "console" else _tool_examples(self))


def blocks_of(text: str) -> list[Block]:
    return [
        Block(it["kind"], it["body"], text.count("\n", 0, it.start("body")) + 1, it["reason"])
        for it in _FENCE.finditer(text)
    ]


def _shell_examples(block: Block) -> Iterator[Example]:
    lines = block.body.splitlines()
    starts = [at for at, line in enumerate(lines) if line.startswith("$ ")]
    assert starts[:1] == [0], f"line {block.line}: a console block begins with `$`"
    for at, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        rest = lines[at + 1 : end]
        more = next((n for n, line in enumerate(rest) if line != ">" and not line.startswith("> ")), len(rest))
        command = "\n".join([lines[at][2:], *(line[2:] for line in rest[:more])])
        yield Example("console", command, tuple(rest[more:]), block.line + at)


def _tool_examples(block: Block) -> Iterator[Example]:
    lines = block.body.splitlines()
    starts = [at for at, line in enumerate(lines) if _CALL.match(line)]
    assert starts[:1] == [0], f"line {block.line}: an mcp block begins with a tool and its arguments"
    for at, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        length = next(n for n in range(1, end - at + 1) if _is_call("\n".join(lines[at : at + n])))
        command = "\n".join(lines[at : at + length])
        yield Example("mcp", command, tuple(lines[at + length : end]), block.line + at)


def _is_call(text: str) -> bool:
    with contextlib.suppress(ValueError):
        json.loads(text[text.index("{") :])
        return True
    return False


@dataclass
class Shell:
    """One bash, fed line by line, so that `cd`, `&` and `$!` work as they do for a reader."""

    process: subprocess.Popen[bytes]
    status: int = 0
    _output: bytes = b""
    _count: int = 0

    def run(self, command: str) -> tuple[str, int]:
        """What it printed, to both streams, and its exit code."""
        self._count += 1
        mark = f"end-of-command-{self._count}-".encode()
        script = f"(exit {self.status})\n{{ {command}\n}} </dev/null\nprintf '%s%s\\n' {mark.decode()} $?\n"
        assert self.process.stdin is not None
        self.process.stdin.write(script.encode())
        self.process.stdin.flush()
        deadline = time.monotonic() + _WITHIN_S * PATIENCE
        while not (found := re.search(re.escape(mark) + rb"(\d+)\n", self._output)):
            self._read(deadline, command)
        printed, self._output = self._output[: found.start()], self._output[found.end() :]
        self.status = int(found[1])
        return printed.decode(errors="replace"), self.status

    def _read(self, deadline: float, command: str) -> None:
        assert self.process.stdout is not None
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
            raise AssertionError(f"not within {_WITHIN_S} s: {command}\n{self._output.decode(errors='replace')}")
        piece = os.read(self.process.stdout.fileno(), 65536)
        assert piece, f"the shell ended: {command}\n{self._output.decode(errors='replace')}"
        self._output += piece


@contextlib.contextmanager
def shell_in(folder: Path, environment: Mapping[str, str]) -> Iterator[Shell]:
    """Whatever it leaves running ends with it: it is the leader of a process group of its own."""
    process = subprocess.Popen(
        ["bash", "--noprofile", "--norc"],
        cwd=folder, env=dict(environment), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        start_new_session=True,
    )  # fmt: skip
    try:
        yield Shell(process)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@dataclass
class Guide:
    """A reader of one guide, who starts in a folder with a copy of `examples/`."""

    folder: Path
    shell: Shell
    connect: Callable[[], Agent]
    shown_as: Mapping[str, str] = field(default_factory=dict)
    """Paths of this machine, and how a guide writes them."""

    @functools.cached_property
    def agent(self) -> Agent:
        """Connected at its first call. Beside an agent, commands of this process count as the agent's."""
        return self.connect()

    def run(self, example: Example) -> tuple[str, int]:
        if example.kind == "console":
            printed, status = self.shell.run(example.command)
        else:
            printed, status = self._call(example.command), 0
        for path, name in self.shown_as.items():
            printed = printed.replace(path, name)
        return printed, status

    def _call(self, command: str) -> str:
        tool, _, arguments = command.partition(" ")
        answer = json.loads(self.agent.line(self.agent.begin(tool, **json.loads(arguments))))
        assert "result" in answer, answer
        return "\n".join(it["text"] for it in answer["result"]["content"])


@contextlib.contextmanager
def reader(folder: Path, environment: Mapping[str, str], shown_as: Mapping[str, str]) -> Iterator[Guide]:
    with shell_in(folder, environment) as shell, contextlib.ExitStack() as agents:
        connect = functools.partial(agent_in, dict(environment), folder / "examples")
        yield Guide(folder, shell, lambda: agents.enter_context(connect()), shown_as)


def problems(guide: Guide, text: str) -> list[str]:
    """What a guide shows and what happens, where they differ."""
    found = []
    for block in blocks_of(text):
        if block.kind not in ("console", "mcp") or block.not_run is not None:
            continue
        examples = block.examples
        for example, following in zip(examples, [*examples[1:], None], strict=True):
            printed, status = guide.run(example)
            if status and not (following and following.command == "echo $?"):
                found.append(f"line {example.line}: exit code {status}: {example.command}\n{printed}")
            elif not matches(example.printed, printed.splitlines()):
                shown = "\n".join(example.printed)
                found.append(f"line {example.line}: {example.command}\n--- shown\n{shown}\n--- printed\n{printed}")
    return found


def matches(shown: tuple[str, ...], printed: list[str]) -> bool:
    """Line by line and in order; empty lines do not count."""
    wanted = [_normal(line) for line in shown if line.strip()]
    lines = [_normal(line) for line in printed if line.strip()]
    pattern = "".join(
        r"(?:[^\n]*\n)*?" if line == "…" else ".*?".join(map(re.escape, line.split("…"))) + "\n" for line in wanted
    )
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in lines)) is not None


def _normal(line: str) -> str:
    for pattern, name in _VARYING:
        line = pattern.sub(name, line)
    return line.rstrip()
