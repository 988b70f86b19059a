"""The signal that opens node's inspector is sent to node alone."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from dragoman.core.errors import DragomanError
from dragoman.debug.backends.adapters.javascript import open_inspector
from dragoman.io.net.peers import listeners


@contextmanager
def running(*command: str) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            yield process
        finally:
            process.kill()


def test_a_process_that_is_not_node_is_refused_and_keeps_running() -> None:
    with running("sh", "-c", "echo ready; read line") as process:
        with pytest.raises(DragomanError) as caught:
            open_inspector(process.pid)
        assert (caught.value.code, process.poll()) == ("not_node", None)


@pytest.mark.needs("javascript")
def test_a_node_process_opens_its_inspector_once_and_keeps_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dragoman.debug.backends.adapters.javascript._INSPECTOR_TIMEOUT_S", 1.0)
    free = "process.debugPort = 0; console.log('ready'); setInterval(() => {}, 1000)"
    with running("node", "-e", free) as process:
        port = open_inspector(process.pid)
        assert [it.port for it in listeners([process.pid])] == [port]
        assert open_inspector(process.pid) == port
