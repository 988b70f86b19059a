"""Copying: by the desktop's program, else through the terminal, else an honest no."""

from __future__ import annotations

import base64
import io
import json
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from dragoman.clients.machine import Machine, copy_text
from tests.clients.conftest import InstallScript

KEEP = "open(HERE + '/copied', 'wb').write(sys.stdin.buffer.read())\n"
TEXT = '{"路径": "/opt"}'


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def with_desktop(machine: Machine, **variables: str) -> Machine:
    return replace(machine, environment={**machine.environment, **variables})


@pytest.mark.parametrize(
    ("program", "variables", "encoding"),
    [
        ("pbcopy", {}, "utf-8"),
        ("wl-copy", {"WAYLAND_DISPLAY": "wayland-0"}, "utf-8"),
        ("xclip", {"DISPLAY": ":0"}, "utf-8"),
        ("xsel", {"DISPLAY": ":0"}, "utf-8"),
        ("clip.exe", {}, "utf-16"),
    ],
)
def test_the_program_of_the_desktop_is_fed(
    machine: Machine, install: InstallScript, program: str, variables: dict[str, str], encoding: str
) -> None:
    install(program, KEEP)
    assert copy_text(TEXT, with_desktop(machine, **variables), io.StringIO()) == program
    assert (machine.home.parent / "copied").read_bytes().decode(encoding) == TEXT


def test_a_program_without_its_desktop_is_not_tried(machine: Machine, install: InstallScript) -> None:
    install("xclip", KEEP)
    assert copy_text(TEXT, machine, io.StringIO()) is None
    assert not (machine.home.parent / "copied").exists()


def test_a_program_that_fails_gives_way_to_the_next(machine: Machine, install: InstallScript) -> None:
    install("xclip", "sys.exit(1)")
    install("xsel", KEEP)
    assert copy_text(TEXT, with_desktop(machine, DISPLAY=":0"), io.StringIO()) == "xsel"


def test_a_program_that_stays_behind_is_not_waited_for(machine: Machine, install: InstallScript) -> None:
    """As xclip does: it keeps running to serve the selection, with its output still open."""
    install(
        "xclip",
        "import json, os, subprocess\nsys.stdin.buffer.read()\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(20)'])\n"
        "json.dump(child.pid, open(HERE + '/pid', 'w'))",
    )
    try:
        assert copy_text(TEXT, with_desktop(machine, DISPLAY=":0"), io.StringIO()) == "xclip"
    finally:
        end(machine.home.parent / "pid")


def end(pid_file: Path) -> None:
    os.kill(json.loads(pid_file.read_text()), signal.SIGKILL)


def test_a_terminal_carries_the_text_itself(machine: Machine) -> None:
    terminal = Terminal()
    assert copy_text(TEXT, machine, terminal) == "OSC 52"
    start, _, rest = terminal.getvalue().partition("\x1b]52;c;")
    assert start == ""
    assert base64.b64decode(rest.removesuffix("\x07")).decode() == TEXT


def test_without_any_way_there_is_no_answer(machine: Machine) -> None:
    assert copy_text(TEXT, machine, io.StringIO()) is None
