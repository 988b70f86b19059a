"""Values that harm whoever looks at them: `values.py NAME...` stops with one after another in `value`."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

CANARY = Path("canary.txt")


class ReprRaises:
    def __repr__(self) -> str:
        raise RuntimeError("no repr for you")


class ReprNeverEnds:
    def __repr__(self) -> str:
        while True:
            time.sleep(0.01)


class ReprIsHuge:
    def __repr__(self) -> str:
        return "r" * 50_000_000


class ReprIsNoText:
    def __repr__(self) -> Any:
        return 7


class ReprConnects:
    def __repr__(self) -> str:
        with socket.socket() as sock:
            sock.settimeout(1)
            return f"port 9 answered {sock.connect_ex(('127.0.0.1', 9))}"


class ReprPrints:
    def __repr__(self) -> str:
        print("printed by a repr")
        return "<ReprPrints>"


class ReprExits:
    def __repr__(self) -> str:
        raise SystemExit(9)


class ReprRecurses:
    def __repr__(self) -> str:
        return repr(self)


class PropertyDeletes:
    """A stop must not look into it: its file goes when somebody does."""

    @property
    def harmless(self) -> str:
        CANARY.unlink(missing_ok=True)
        return "deleted"


class LiesAboutItself:
    """Every question about it is answered with a failure."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(f"asked for {name}")

    def __len__(self) -> int:
        raise RuntimeError("asked for its length")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("compared")

    def __hash__(self) -> int:
        raise RuntimeError("hashed")

    def __bool__(self) -> bool:
        raise RuntimeError("asked whether it is true")


def with_a_million_fields() -> Any:
    value = type("Wide", (), {})()
    value.__dict__.update({f"field_{number}": number for number in range(1_000_000)})
    return value


def cyclic() -> Any:
    inner: dict[str, Any] = {}
    value: list[Any] = [inner]
    inner["back"] = value
    value.append(value)
    return value


def nested(depth: int = 100_000) -> Any:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def deleting() -> Any:
    CANARY.write_text("still here")
    return PropertyDeletes()


VALUES: dict[str, Callable[[], Any]] = {
    "string": lambda: "s" * 100_000_000,
    "bytes": lambda: b"\x00\xff" * 50_000_000,
    "integer": lambda: 1 << 40_000_000,
    "list": lambda: list(range(1_000_000)),
    "dict": lambda: {f"key_{number}": number for number in range(1_000_000)},
    "fields": with_a_million_fields,
    "strings": lambda: ["t" * 1_000_000] * 200,
    "cyclic": cyclic,
    "nested": nested,
    "raises": ReprRaises,
    "endless": ReprNeverEnds,
    "huge": ReprIsHuge,
    "no-text": ReprIsNoText,
    "connects": ReprConnects,
    "prints": ReprPrints,
    "exits": ReprExits,
    "recurses": ReprRecurses,
    "deletes": deleting,
    "lies": LiesAboutItself,
    "surrogates": lambda: "\ud800 \x00 \x1b[2J \u202e \U000e0041",
    "environment": lambda: os.environ,
}


def look(value: Any) -> Any:
    return value  # stop here


if __name__ == "__main__":
    for name in sys.argv[1:]:
        look(VALUES[name]())
    print("done")
