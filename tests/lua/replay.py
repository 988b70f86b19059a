"""Recorded sessions of the original, played again to our runtime: what was sent, and what must come back."""

from __future__ import annotations

import base64
import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragoman.wire.luapanda.encoding import read_message
from dragoman.wire.luapanda.framing import message_text
from tests.lua.program import Ide, Message, Program

FOLDER = Path(__file__).parents[1] / "vectors" / "luapanda"
_ADDRESS = re.compile(r"0x[0-9a-f]+|builtin: [0-9a-f]+|\(0x[0-9a-f]+\)")
_MEMBERS = re.compile(r"^\d+ Members")


@dataclass(frozen=True)
class Record:
    direction: str
    data: bytes


def transcript(name: str) -> list[Record]:
    records = []
    for line in (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        data = base64.b64decode(item["raw_b64"]) if "raw_b64" in item else str(item.get("raw", "")).encode()
        records.append(Record(item["dir"], data))
    return records


def program_of(name: str) -> str:
    index = json.loads((FOLDER / "index.json").read_text(encoding="utf-8"))
    return str(index["files"][f"{name}.jsonl"]["program"])


def copy_programs(root: Path) -> None:
    shutil.copytree(FOLDER / "programs", root, dirs_exist_ok=True)


def is_memory(message: Message) -> bool:
    return bool(message["cmd"] == "refreshLuaMemory")


def recorded(records: list[Record]) -> list[Message]:
    return [read_message(message_text(record.data.rstrip(b"\n"))) for record in records if record.direction == "lua->ide"]


def play(ide: Ide, records: list[Record], root: Path) -> list[Message]:
    """Send what was sent, each line after as many answers as had come before it in the record."""
    answers = 0
    came: list[Message] = []
    for record in records:
        if record.direction == "lua->ide":
            answers += 0 if is_memory(read_message(message_text(record.data.rstrip(b"\n")))) else 1
        elif record.direction == "ide->lua":
            _catch_up(ide, came, answers)
            ide.write(record.data.replace(b"/proj", str(root).encode()))
    _catch_up(ide, came, answers)
    while (message := ide.next_message()) is not None:
        came.append(message)
    return came


def _catch_up(ide: Ide, came: list[Message], wanted: int) -> None:
    while sum(not is_memory(message) for message in came) < wanted:
        message = ide.next_message()
        assert message is not None, f"closed after {came[-3:]}"
        came.append(message)


def comparable(message: Message, root: Path) -> Any:
    """A message without what differs from run to run: addresses, folders, the order of a hash, numbers of references."""
    if is_memory(message):
        return "refreshLuaMemory"
    text = json.dumps(message, ensure_ascii=False, sort_keys=True).replace(str(root), "/proj")
    changed = json.loads(_ADDRESS.sub("ADDRESS", text))
    if isinstance(changed["info"], list):
        changed["info"] = sorted((_variable(item) for item in changed["info"]), key=lambda item: str(item["name"]))
    return changed


def _variable(item: dict[str, Any]) -> dict[str, Any]:
    reference = item.get("variablesReference")
    value = item["value"]
    if item["name"] in {"LuaPanda", "package", "_G", "coroutine"}:
        value = _MEMBERS.sub("N Members", value)
    return {**item, "value": value, "variablesReference": "a number" if isinstance(reference, int) else reference}


def replayed(lua: str, name: str, root: Path) -> tuple[list[Any], list[Any], Program]:
    """What came, what was recorded, and the program, which has ended."""
    records = transcript(name)
    copy_programs(root)
    with Program(lua, root) as program:
        ide = program.debug(program_of(name))
        came = play(ide, records, root)
        ide.close()
        program.stop_listening()
        program.end()
    return [comparable(m, root) for m in came], [comparable(m, Path("/proj")) for m in recorded(records)], program
