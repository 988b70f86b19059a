"""Another user at the daemon's port: the extension's own code sends it nothing that opens anything."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import select
import signal
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.daemons import PATIENCE, Cli, eventually
from tests.raw_http import WebSocket
from tests.servers.control.test_other_users import NOBODY, only_root
from tests.vscode.editor import ROOT, free_port, node

pytestmark = [pytest.mark.needs("editor"), pytest.mark.timeout(120 * PATIENCE), only_root]

WATCHED_MS = 2000
CLOSE_UNPROVED = 4403


@pytest.fixture(scope="module")
def dialler(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The extension's sources, as they are, bundled to run alone."""
    made = tmp_path_factory.mktemp("dialler") / "dialler.cjs"
    esbuild = ROOT / "vscode" / "node_modules" / "esbuild" / "bin" / "esbuild"
    source = ROOT / "vscode" / "test" / "host" / "dialler.ts"
    command = [str(esbuild), str(source), "--bundle", "--platform=node", "--format=cjs", f"--outfile={made}"]
    subprocess.run(command, check=True, capture_output=True, timeout=60 * PATIENCE)
    return made


@dataclass
class Victim:
    cli: Cli
    dialler: Path

    def run(self, *arguments: str) -> list[dict[str, Any]]:
        done = subprocess.run(
            [str(node()), str(self.dialler), *arguments], env=self.cli.variables(), capture_output=True, text=True,
            timeout=60 * PATIENCE, check=True,
        )  # fmt: skip
        return [json.loads(line) for line in done.stdout.splitlines()]

    def note(self) -> dict[str, Any]:
        value: dict[str, Any] = json.loads(self.cli.paths.state_file.read_text())
        return value


@pytest.fixture
def victim(tmp_path: Path, dialler: Path) -> Iterator[Victim]:
    cli = Cli(tmp_path / "home", {"HOME": str(tmp_path)})
    (cli.home / "config").mkdir(parents=True)
    (cli.home / "config" / "settings.toml").write_text("port = 0\n")
    assert cli("up", "--workspace", str(tmp_path)).returncode == 0
    try:
        yield Victim(cli, dialler)
    finally:
        cli.kill()


@dataclass
class ForeignServer:
    port: int
    record: Path

    def received(self) -> list[str]:
        """The texts that came, of all connections."""
        return [text for data in self.record.read_bytes().split(b"GET ")[1:] for text in _texts(data)]

    def connections(self) -> int:
        return self.record.read_bytes().count(b"GET ")


@contextlib.contextmanager
def stranger(port: int, record: Path, relays_to: int = 0) -> Iterator[ForeignServer]:
    """A process of another user that listens there, and keeps all that it is told."""
    with eventually(lambda: _bound(port), every_s=0.05) as taken, record.open("wb") as kept:
        child = os.fork()
        if child == 0:
            try:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
                _listen(taken, kept.fileno(), relays_to)
            finally:
                os._exit(0)
    try:
        yield ForeignServer(port, record)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _bound(port: int) -> socket.socket | None:
    """Once the one before has let go of it."""
    with contextlib.suppress(OSError):
        return socket.create_server(("127.0.0.1", port))
    return None


def _listen(taken: socket.socket, record: int, relays_to: int) -> None:
    while True:
        client, _ = taken.accept()
        with contextlib.suppress(OSError), client:
            if relays_to:
                _relay(client, record, relays_to)
            else:
                _lie(client, record)


def _lie(client: socket.socket, record: int) -> None:
    """Speaks the protocol as far as one can without the key."""
    head = client.recv(65_536)
    os.write(record, head)
    key = next(line.split(b": ")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"sec-websocket-key"))
    accept = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
    client.sendall(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n"
    )
    os.write(record, client.recv(65_536))
    proof = json.dumps({"nonce": "ab" * 32, "instance": "cd" * 16, "mac": "ef" * 32}).encode()
    client.sendall(bytes([0x81, 126]) + len(proof).to_bytes(2, "big") + proof)
    while data := client.recv(65_536):
        os.write(record, data)


def _relay(client: socket.socket, record: int, port: int) -> None:
    with socket.create_connection(("127.0.0.1", port)) as daemon:
        pairs = {client: daemon, daemon: client}
        while True:
            for ready in select.select(list(pairs), [], [], 10)[0]:
                data = ready.recv(65_536)
                if not data:
                    return
                if ready is client:
                    os.write(record, data)
                    data = data.replace(str(client.getsockname()[1]).encode(), str(port).encode())  # Host
                pairs[ready].sendall(data)


def _texts(data: bytes) -> list[str]:
    """Of masked frames behind a request's head."""
    _, _, rest = data.partition(b"\r\n\r\n")
    found = []
    while len(rest) >= 2:
        opcode, size, start = rest[0] & 15, rest[1] & 127, 2
        if size == 126:
            size, start = int.from_bytes(rest[2:4], "big"), 4
        mask, payload = rest[start : start + 4], rest[start + 4 : start + 4 + size]
        if opcode == 1:
            found.append(bytes(byte ^ mask[at % 4] for at, byte in enumerate(payload)).decode())
        rest = rest[start + 4 + size :]
    return found


def test_the_note_of_a_killed_daemon_leads_no_window_to_a_foreign_port(victim: Victim, tmp_path: Path) -> None:
    known = victim.run("watch", "10000")
    assert known[-1]["status"]["port"] == victim.note()["port"], (
        known
    )  # the control: where the daemon lives, it is used
    port = int(victim.note()["port"])
    victim.cli.kill()
    assert victim.cli.paths.state_file.exists()
    with stranger(port, tmp_path / "received") as there:
        assert victim.run("watch", str(WATCHED_MS)) == [{"state": "stopped"}]
        assert there.connections() == 0


def test_a_foreign_server_that_is_dialled_gets_nothing_that_opens_anything(victim: Victim, tmp_path: Path) -> None:
    note = victim.note()
    victim.cli.kill()
    with stranger(int(note["port"]), tmp_path / "received") as there:
        assert victim.run("dial", f"127.0.0.1:{note['port']}", note["instance"]) == [{"why": "foreign"}]
        (result,) = there.received()
        assert sorted(json.loads(result)) == ["dialled", "key", "nonce"]
        assert victim.cli.token("editor").encode() not in there.record.read_bytes()
    started = victim.cli("up", "--port", str(note["port"]), "--workspace", str(tmp_path))
    assert started.returncode == 0, started.stdout + started.stderr
    assert _replayed(victim, result) == CLOSE_UNPROVED


def _replayed(victim: Victim, opening: str) -> int:
    """What the stranger heard, said to the real daemon; and its own proof, reflected."""
    port = int(victim.note()["port"])
    with WebSocket(port, "/link/feed", [("Host", f"127.0.0.1:{port}")]) as wire:
        wire.send(opening.encode())
        proof = wire.receive_json()
        wire.send(json.dumps({"mac": proof["mac"]}).encode())
        return int(wire.close_code())


def test_a_relay_on_another_port_gets_no_proof_of_either_side(victim: Victim, tmp_path: Path) -> None:
    note = victim.note()
    with stranger(free_port(), tmp_path / "received", relays_to=int(note["port"])) as there:
        assert victim.run("dial", f"127.0.0.1:{there.port}", note["instance"]) == [{"why": "foreign"}]
        eventually(lambda: there.connections() == 1, every_s=0.05)
        assert not any("mac" in json.loads(text) for text in there.received())
    (direct,) = victim.run("dial", f"127.0.0.1:{note['port']}", note["instance"])
    assert '"snapshot"' in direct["said"]


def test_a_restarted_daemon_does_not_accept_what_was_meant_for_the_last_one(victim: Victim) -> None:
    note = victim.note()
    assert victim.run("dial", f"127.0.0.1:{note['port']}", "00" * 16) == [{"why": "foreign"}]
