"""The sockets that debugpy's adapter is given: quick to read, and closed whoever reads from them."""

from __future__ import annotations

import contextlib
import importlib
import os
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dragoman.debug.backends.adapters.debugpy_scripts import debugpy_launcher
from dragoman.debug.backends.adapters.debugpy_scripts.debugpy_entry import _QuickSocket

_SOON_S = 5.0


class _Counted(_QuickSocket):
    reads = 0

    def recv_into(self, *arguments: Any, **named: Any) -> int:
        self.reads += 1
        return super().recv_into(*arguments, **named)


@pytest.fixture
def pair() -> Iterator[tuple[_Counted, socket.socket]]:
    ours, theirs = socket.socketpair()
    with theirs, _Counted(fileno=os.dup(ours.fileno())) as quick:
        ours.close()
        quick.settimeout(_SOON_S)
        yield quick, theirs


def test_a_message_is_read_with_one_call_to_the_system_and_answered_at_once(
    pair: tuple[_Counted, socket.socket],
) -> None:
    quick, theirs = pair
    stream = quick.makefile("rwb", 0)
    theirs.sendall(b"Content-Length: 5\r\n\r\nhelloContent-Length: 2\r\n\r\n")
    assert [stream.readline(), stream.readline(), stream.read(5)] == [b"Content-Length: 5\r\n", b"\r\n", b"hello"]
    assert stream.readline() == b"Content-Length: 2\r\n"
    assert quick.reads == 1
    assert stream.write(b"answer") == len(b"answer")
    stream.flush()
    assert theirs.recv(100) == b"answer"


def test_it_is_closed_while_another_thread_waits_for_a_message(pair: tuple[_Counted, socket.socket]) -> None:
    quick, _ = pair
    stream, ended = quick.makefile("rwb", 0), threading.Event()

    def read() -> None:
        with contextlib.suppress(OSError, ValueError):
            stream.readline()
        ended.set()

    threading.Thread(target=read, daemon=True).start()
    closing = threading.Thread(target=stream.close, daemon=True)
    closing.start()
    closing.join(_SOON_S)
    assert not closing.is_alive()
    quick.shutdown(socket.SHUT_RDWR)
    assert ended.wait(_SOON_S)


def test_files_of_other_kinds_are_what_they_always_were(pair: tuple[_Counted, socket.socket]) -> None:
    quick, theirs = pair
    theirs.sendall(b"a line\n")
    with quick.makefile("r", encoding="utf-8") as text:
        assert text.readline() == "a line\n"


INJECTING = "codes = []\ndef run_python_code(pid, code, **_):\n    codes.append(code)\n"
INJECTED = """\
import os
seen = []
def attach(setup):
    print("advice")
    seen.append(os.environ.get("PYDEVD_DISABLE_FILE_VALIDATION"))
"""


def test_what_is_injected_into_a_running_program_leaves_neither_advice_nor_a_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The code that a debugger is told to run in there, run here: it may hold no quotes, or is not taken."""
    for name, text in (("add_code_to_python_process", INJECTING), ("attach_pid_injected", INJECTED)):
        (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.setitem(sys.modules, name, importlib.import_module(name))
    debugpy_launcher._inject_quietly("/nowhere")
    sys.modules["add_code_to_python_process"].run_python_code(
        1, "import attach_pid_injected;attach_pid_injected.attach(setup);"
    )
    (code,) = sys.modules["add_code_to_python_process"].codes
    assert not {"'", '"', "\n"} & set(code)
    exec(code, {"setup": {}})
    assert (sys.modules["attach_pid_injected"].seen, capfd.readouterr().out) == (["1"], "")
    assert "PYDEVD_DISABLE_FILE_VALIDATION" not in os.environ
