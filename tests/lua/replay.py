"""Recorded sessions of the original, played again to our runtime: what was sent, and what must come back."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

from dragoman.protocols.luapanda.framing import message_text, read_message
from tests.lua.program import Ide, Message, Program
from tests.protocols.luapanda.transcripts import FOLDER, INDEX, to_ide, transcript

_ADDRESS = re.compile(r"0x[0-9a-f]+|builtin: [0-9a-f]+")
_MEMBERS = re.compile(r"^\d+ Members")
# Only the runtime itself knows what it does inside: with logLevel 0 the original tells it all.
_TALK = frozenset({"refreshLuaMemory"})
_TALK_OF_ALL = frozenset({"refreshLuaMemory", "output"})


def talk_of(name: str) -> frozenset[str]:
    return _TALK_OF_ALL if name.startswith("loglevel") else _TALK


def copy_programs(root: Path) -> None:
    shutil.copytree(FOLDER / "programs", root, dirs_exist_ok=True)


def recorded(name: str) -> list[Message]:
    return [_message(data) for data in to_ide(name)]


def _message(data: bytes) -> Message:
    return read_message(message_text(data.rstrip(b"\n")))


def play(ide: Ide, name: str, root: Path) -> list[Message]:
    """Send what was sent, each line after as many answers as had come before it in the record."""
    talk, answers = talk_of(name), 0
    came: list[Message] = []
    for record in transcript(name):
        if record.to_ide:
            answers += _message(record.data)["cmd"] not in talk
        elif record.to_runtime:
            _catch_up(ide, came, answers, talk)
            ide.write(record.data.replace(b"/proj", str(root).encode()))
        elif b"closed" in record.data:
            break
    _catch_up(ide, came, answers, talk)
    while (message := ide.next_message()) is not None:
        came.append(message)
    return came


def _catch_up(ide: Ide, came: list[Message], wanted: int, talk: frozenset[str]) -> None:
    while sum(message["cmd"] not in talk for message in came) < wanted:
        message = ide.next_message()
        assert message is not None, f"closed after {came[-3:]}"
        came.append(message)


def comparable(message: Message, root: Path) -> Any:
    """A message without what differs from run to run: addresses, folders, the order of a hash, references."""
    text = json.dumps(message, ensure_ascii=False, sort_keys=True).replace(str(root), "/proj")
    changed = json.loads(_ADDRESS.sub("ADDRESS", text))
    if message["cmd"] == "initSuccess":
        changed["info"].pop("UseHookLib")  # a C library for hooks, which ours has no need of
    if isinstance(changed["info"], list):
        changed["info"] = sorted((_variable(item) for item in changed["info"]), key=lambda item: str(item["name"]))
    return changed


def _variable(item: dict[str, Any]) -> dict[str, Any]:
    reference = item.get("variablesReference")
    value = item["value"]
    if item["name"] in {"LuaPanda", "package", "_G", "coroutine"}:
        value = _MEMBERS.sub("N Members", value)
    return {**item, "value": value, "variablesReference": "a number" if isinstance(reference, int) else reference}


def replayed(lua: str, name: str, root: Path) -> tuple[list[Any], list[Any], int]:
    """What came, what was recorded, and how the program ended."""
    copy_programs(root)
    with Program(lua, root) as program:
        ide = program.debug(INDEX[f"{name}.jsonl"]["program"])
        came = play(ide, name, root)
        program.stop_listening()
        code, _, _ = program.end()
    talk = talk_of(name)
    ours = [comparable(message, root) for message in came if message["cmd"] not in talk]
    return ours, [comparable(message, Path("/proj")) for message in recorded(name) if message["cmd"] not in talk], code
