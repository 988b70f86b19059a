"""People who come and go without a word: connections dropped in every half-done state."""

from __future__ import annotations

import contextlib
import random
import socket
import struct
from collections.abc import Iterator

from tests.daemons import Cli, daemons_of
from tests.raw_http import WEBSOCKET_HEADERS, Ask

HELLO = b'{"dragoman":1,"role":"control","version":"0","language":"en","about":{}}\n'
ABRUPTLY = struct.pack("ii", 1, 0)


def connects_and_drops(cli: Cli, rounds: int, *, seed: int) -> Iterator[None]:
    dice = random.Random(seed)
    port = cli.status()["port"]
    head = [("Host", f"127.0.0.1:{port}"), ("Authorization", f"Bearer {cli.token('mcp')}")]
    over_unix = (b"", b'{"drago', HELLO, HELLO + b'{"id":1,"method":"status","params":{}}\n', b"\xff\n")
    over_tcp = (
        b"",
        b"GET / HT",
        Ask("/health", headers=head).encode(),
        Ask("/link/feed", headers=[*head, *WEBSOCKET_HEADERS]).encode(),
        Ask("/mcp", method="POST", headers=head, body=b"{}").encode()[:-1],
    )
    for _ in range(rounds):
        if dice.random() < 0.5:
            _drop(socket.AF_UNIX, str(cli.paths.socket), dice.choice(over_unix), dice)
        else:
            _drop(socket.AF_INET, ("127.0.0.1", port), dice.choice(over_tcp), dice)
        yield


def _drop(family: int, address: str | tuple[str, int], words: bytes, dice: random.Random) -> None:
    with socket.socket(family) as connection:
        connection.settimeout(10)
        connection.connect(address)
        if dice.random() < 0.5:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABRUPTLY)
        with contextlib.suppress(OSError):  # it may have refused us already
            connection.sendall(words)
            if dice.random() < 0.3:  # gone with the answer half read, or before one that never comes
                connection.settimeout(0.02)
                connection.recv(1)


def open_files(cli: Cli) -> int:
    (daemon,) = daemons_of(cli.home)
    return int(daemon.num_fds())
