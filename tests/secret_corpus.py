"""The corpus: forms in which secrets are written, with secrets made up anew, and ordinary output that has none."""

from __future__ import annotations

import random
import re
import string
import tomllib
from pathlib import Path
from typing import NamedTuple

_DATA = Path(__file__).parent / "data"
_PLACE = re.compile(r"\{(alnum|hex|upper|b64|word):(\d+)\}")
_LETTERS = {
    "alnum": string.ascii_letters + string.digits,
    "word": string.ascii_letters + string.digits,
    "hex": "0123456789abcdef",
    "upper": string.ascii_uppercase + string.digits,
    "b64": string.ascii_letters + string.digits + "+/",
}


class SecretForm(NamedTuple):
    name: str
    text: str
    secrets: tuple[str, ...]
    """What must not be seen of it."""


def secret_forms(seed: int = 0) -> list[SecretForm]:
    forms: dict[str, str] = tomllib.loads((_DATA / "secret_forms.toml").read_text())["forms"]
    return [_made(name, text, random.Random(f"{seed} {name}")) for name, text in forms.items()]


def ordinary_output() -> list[str]:
    return (_DATA / "ordinary_output.txt").read_text().splitlines(keepends=True)


def _made(name: str, text: str, dice: random.Random) -> SecretForm:
    secrets: list[str] = []

    def one(place: re.Match[str]) -> str:
        letters = _LETTERS[place[1]]
        # Of each kind one: a secret of letters alone is a word that nobody can tell from others.
        made = [*dice.choices(letters, k=int(place[2]) - 3), "7", dice.choice(letters), "a" if "a" in letters else "A"]
        secrets.append("".join(made))
        return secrets[-1]

    filled = _PLACE.sub(one, text).replace("{{", "{").replace("}}", "}")
    return SecretForm(name, filled, tuple(secrets))
