"""The omnish wire: bytes to typed messages and back, through a connection, in chunks as a socket gives them."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from bench.claims import Claim, median_s
from dragoman.protocols.omnish import BASE_REVISION, ClientConnection, DaemonConnection
from dragoman.protocols.omnish.messages import CommandComplete, CommandRecord, IoData, IoDirection

SMALL = 20_000
LARGE = 4_000
IMPORT = """
import time, dragoman.core.errors
began = time.perf_counter()
import dragoman.protocols.omnish
print(time.perf_counter() - began)
"""


def run() -> list[Claim]:
    keys: list[object] = [IoData("722886d5", IoDirection.INPUT, at, b"x") for at in range(SMALL)]
    pages: list[object] = [IoData("722886d5", IoDirection.OUTPUT, at, bytes(4096)) for at in range(LARGE)]
    record = CommandRecord("722886d5:1", "722886d5", "cargo build", "/home/me", 1, 2, "two\nlines", 0, 0, 101)
    commands: list[object] = [CommandComplete("722886d5", record)] * SMALL
    claims = [
        Claim(f"decode, {what}, {chunk // 1024} KiB chunks", SMALL / _decode_s(sent, chunk), "msg/s", 100_000, "higher")
        for what, sent in (("one key", keys), ("command record", commands))
        for chunk in (4096, 65536)
    ]
    claims += [
        Claim(f"encode, {what}", SMALL / _encode_s(sent), "msg/s", 100_000, "higher")
        for what, sent in (("one key", keys), ("command record", commands))
    ]
    claims += [
        Claim(f"decode, 4 KiB of output, {chunk // 1024} KiB chunks", _rate(pages, chunk), "MB/s", 500, "higher")
        for chunk in (4096, 65536)
    ]
    return [*claims, Claim("import, beyond dragoman.core.errors", _import_ms(), "ms", 15, "lower")]


def _stream(messages: list[object]) -> bytes:
    client = ClientConnection(BASE_REVISION)
    return b"".join(client.request(message)[1] for message in messages)


def _decode_s(messages: list[object], chunk: int) -> float:
    stream = _stream(messages)
    chunks = [stream[at : at + chunk] for at in range(0, len(stream), chunk)]

    def decode() -> None:
        daemon, count = DaemonConnection(), 0
        for each in chunks:
            daemon.receive_data(each)
            for _ in daemon.events():
                count += 1
        assert count == len(messages)

    return median_s(decode)


def _encode_s(messages: list[object]) -> float:
    return median_s(lambda: _stream(messages))


def _rate(pages: list[object], chunk: int) -> float:
    return len(pages) * 4096 / _decode_s(pages, chunk) / 1e6


def _import_ms() -> float:
    """In fresh interpreters that find compiled modules, as an installed package does."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": cache, "PYTHONDONTWRITEBYTECODE": ""}
        command = [sys.executable, "-c", IMPORT]
        times = [
            float(subprocess.run(command, env=environment, capture_output=True, check=True).stdout) for _ in range(8)
        ]
    return sorted(times[1:])[3] * 1000
