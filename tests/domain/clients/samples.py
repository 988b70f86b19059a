"""What the tests write with, and files as people have them: comments, foreign servers, odd line ends."""

from __future__ import annotations

from datetime import datetime

from dragoman.clients.command import Command
from dragoman.clients.machine import Machine
from dragoman.clients.table import CLIENTS, Client
from dragoman.clients.wishes import Wish, stdio_wish
from dragoman.clients.write import Writer
from dragoman.transport.system import REAL_SYSTEM, System

COMMAND = Command("/opt/tools/dragoman")
NOON = datetime(2026, 5, 4, 12, 30, 59)
WITH_FILES = [client for client in CLIENTS if client.files]

_RICH_JSONC = (
    "\ufeff{\r\n"
    "\t// mine, since 2024\r\n"
    '\t"theme": "dark", /* not "light" */\r\n'
    '\t"CONTAINER": {\r\n'
    '\t\t"other": {"command": "npx", "env": {"KEY": "sk-1"}}, // about other\r\n'
    '\t\t// "off": {"command": "x"},\r\n'
    "\t},\r\n"
    "}\r\n"
)
_RICH_TOML = (
    "\ufeff# mine, since 2024\r\n"
    'model = "best" # really\r\n'
    "[CONTAINER.other]\r\n"
    'command = "npx"\r\n'
    "args = [\r\n"
    '\t"[CONTAINER.dragoman]", # not a header\r\n'
    "]\r\n"
    "\r\n"
    "# about tools\r\n"
    "[tools]\r\n"
    "web = true\r\n"
)


def wish_for(client: Client, machine: Machine, command: Command = COMMAND) -> Wish:
    return stdio_wish(client, machine, command)


def writer(machine: Machine, system: System = REAL_SYSTEM, *, deadline_s: float = 20) -> Writer:
    return Writer(machine=machine, now=lambda: NOON, system=system, deadline_s=deadline_s)


def rich(client: Client) -> bytes:
    text = _RICH_TOML if client.format == "toml" else _RICH_JSONC
    return text.replace("CONTAINER", client.container).encode()


def broken(client: Client) -> bytes:
    return b"a = 1\n[b\n" if client.format == "toml" else b'{\n  "a": 1\n  "b": 2\n}\n'


def wrong_container(client: Client) -> bytes:
    return (
        f"{client.container} = []\n".encode() if client.format == "toml" else f'{{"{client.container}": []}}'.encode()
    )
