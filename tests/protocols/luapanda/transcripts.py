"""The recorded sessions with the real runtime."""

from __future__ import annotations

import base64
import json
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

FOLDER = Path(__file__).parents[2] / "vectors" / "luapanda"
INDEX: dict[str, Any] = json.loads((FOLDER / "index.json").read_text())["files"]
NAMES = sorted(name.removesuffix(".jsonl") for name in INDEX)
FAULTS = [name for name in NAMES if name.startswith("fault_")]
GOOD = [name for name in NAMES if not name.startswith("fault_")]


class Record(msgspec.Struct, frozen=True):
    direction: str
    data: bytes

    @property
    def to_ide(self) -> bool:
        return self.direction == "lua->ide"

    @property
    def to_runtime(self) -> bool:
        return self.direction == "ide->lua"


@cache
def transcript(name: str) -> tuple[Record, ...]:
    lines = (FOLDER / f"{name}.jsonl").read_text().splitlines()
    return tuple(Record(line["dir"], _bytes(line)) for line in map(json.loads, lines))


def to_ide(name: str) -> list[bytes]:
    return [record.data for record in transcript(name) if record.to_ide]


def to_runtime(name: str) -> list[bytes]:
    return [record.data for record in transcript(name) if record.to_runtime]


def _bytes(line: dict[str, Any]) -> bytes:
    return base64.b64decode(line["raw_b64"]) if "raw_b64" in line else line["raw"].encode()
