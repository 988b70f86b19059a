"""Where a debugger connects by itself is known from its configuration, and so is the owner of what listens there."""

from __future__ import annotations

import os
import socket
from typing import Any

import pytest

from dragoman.debug.backends.endpoints import endpoints_to_connect
from dragoman.io.net.peers import has_foreign_listener
from tests.io.processes.test_nodelay import served

HERE = socket.gethostname()
NAMED: list[tuple[str, str, dict[str, Any], list[tuple[str, int]]]] = [
    ("node", "attach", {"port": 4000}, [("", 4000)]),
    ("node", "attach", {"port": "4000", "address": "127.0.0.2"}, [("127.0.0.2", 4000)]),
    ("node", "attach", {"websocketAddress": "ws://[::1]:4000/6f1b"}, [("::1", 4000)]),
    ("node", "attach", {}, [("", 9229)]),
    ("pwa-node", "attach", {"address": HERE}, [(HERE, 9229)]),
    ("node", "attach", {"processId": 7}, []),
    ("node", "launch", {"port": 4000}, []),  # the program's own
    ("node", "launch", {"attachSimplePort": 4000}, [("", 4000)]),
    ("lldb-dap", "attach", {"gdb-remote-port": 4000}, [("localhost", 4000)]),
    ("lldb-dap", "attach", {"gdb-remote-port": 4000, "gdb-remote-hostname": HERE}, [(HERE, 4000)]),
    ("cppdbg", "launch", {"miDebuggerServerAddress": "localhost:4000"}, [("localhost", 4000)]),
    ("gdb", "attach", {"target": ":4000"}, [("", 4000)]),
    ("java", "attach", {"hostName": "127.0.0.1", "port": 4000}, [("127.0.0.1", 4000)]),
    ("dart", "launch", {"debugServer": 4000, "host": "elsewhere"}, [("localhost", 4000)]),
    ("debugpy", "attach", {"connect": {"host": "0.0.0.0", "port": 4000}}, [("0.0.0.0", 4000)]),
    ("rdbg", "attach", {"debugPort": "localhost:4000"}, [("localhost", 4000)]),
    ("go", "attach", {"port": True, "target": "main", "debugPort": "99999", "host": ["x"]}, []),
]


@pytest.mark.parametrize(("type", "request_", "arguments", "dialled"), NAMED)
def test_every_way_to_name_an_address_is_read(
    type: str, request_: str, arguments: dict[str, Any], dialled: list[tuple[str, int]]
) -> None:
    assert list(endpoints_to_connect(type, request_, arguments)) == dialled


@pytest.mark.skipif(os.getuid() != 0, reason="only root can start a process of another user")
def test_every_name_of_this_machine_finds_the_listening_process() -> None:
    names = ("", "localhost", "127.0.0.1", "127.9.9.9", "0.0.0.0", HERE, socket.gethostbyname(HERE), "::ffff:127.0.0.1")
    everywhere = "0.0.0.0"
    with (
        served(everywhere, before="import os, socket; os.setuid(65534)") as (_, foreign),
        served(everywhere) as (_, own),
    ):
        assert [it for it in names if not has_foreign_listener(it, foreign)] == []
        assert [it for it in names if has_foreign_listener(it, own)] == []
        # Another machine's port of that number, and a name that nobody knows, are not this one's.
        assert not has_foreign_listener("203.0.113.1", foreign)
        assert not has_foreign_listener("nowhere.invalid", foreign)
