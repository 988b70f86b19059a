"""How the demo is told: what the agent asks, gets and concludes. Colours on a terminal, plain elsewhere."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.text import Text

from dragoman.cli.output import shown
from dragoman.phrases import Phrase, say
from dragoman.visible import visible

_LABELS = {"asks": say("asks"), "gets": say("gets"), "thinks": say("thinks"), "writes": say("writes")}
_STYLES = {"asks": "bold cyan", "gets": "default", "thinks": "green", "writes": "bold cyan"}
_INDENT = "  "


class Teller:
    def __init__(self) -> None:
        self._console = Console(file=sys.stdout, highlight=False, soft_wrap=True)
        self._width = max(len(shown(label)) for label in _LABELS.values())

    def say(self, phrase: Phrase, style: str = "") -> None:
        self._console.print(Text(visible(shown(phrase)), style))

    def heading(self, phrase: Phrase) -> None:
        self._console.print()
        self.say(phrase, "bold")

    def asks(self, tool: str, arguments: dict[str, Any]) -> None:
        given = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in arguments.items())
        self._line("asks", f"{tool}({given})")

    def gets(self, lines: Iterable[str]) -> None:
        """What a program says, escaped: it reaches a terminal here."""
        for line in lines:
            self._line("gets", line)

    def writes(self, line: str) -> None:
        self._line("writes", line)

    def thinks(self, phrase: Phrase) -> None:
        self._line("thinks", shown(phrase))

    def _line(self, kind: str, text: str) -> None:
        label = shown(_LABELS[kind])
        pad = " " * (self._width - len(label) + 2)
        self._console.print(Text.assemble(_INDENT, (label, "dim"), pad, (visible(text), _STYLES[kind])))
