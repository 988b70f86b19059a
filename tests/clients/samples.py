"""What the tests write with, and files as people have them: comments, foreign servers, odd line ends."""

from __future__ import annotations

from datetime import datetime

from dragoman.clients.catalog import CLIENTS, McpClient
from dragoman.clients.entries import DesiredEntry, desired_stdio_entry
from dragoman.clients.machine import Machine, ServerCommand
from dragoman.clients.writer import ConfigWriter
from dragoman.io.files.system_calls import REAL_SYSTEM, SystemCalls

COMMAND = ServerCommand("/opt/tools/dragoman")
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


def desired_entry_for(client: McpClient, machine: Machine, command: ServerCommand = COMMAND) -> DesiredEntry:
    return desired_stdio_entry(client, machine, command)


def writer(machine: Machine, system: SystemCalls = REAL_SYSTEM, *, deadline_s: float = 20) -> ConfigWriter:
    return ConfigWriter(machine=machine, now=lambda: NOON, system=system, deadline_s=deadline_s)


def rich(client: McpClient) -> bytes:
    text = _RICH_TOML if client.format == "toml" else _RICH_JSONC
    return text.replace("CONTAINER", client.container).encode()


def broken(client: McpClient) -> bytes:
    return b"a = 1\n[b\n" if client.format == "toml" else b'{\n  "a": 1\n  "b": 2\n}\n'


def wrong_container(client: McpClient) -> bytes:
    return (
        f"{client.container} = []\n".encode() if client.format == "toml" else f'{{"{client.container}": []}}'.encode()
    )
