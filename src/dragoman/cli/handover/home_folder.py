"""Writes the user's home folder as `~`, also where escape sequences or the chunks of a stream cut its name."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from dragoman.core.redaction import TERMINAL_NOISE

_NOISE = re.compile(TERMINAL_NOISE.pattern.decode("ascii"), re.VERBOSE)
_CUT_ESCAPE = re.compile(r"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}|\][^\x07\x1b]{0,4096}\x1b?)?\Z")
_MAX_CUT_ESCAPE = 4_200
# Texts for the terminal itself, such as the folder of the shell.
_WORDS = re.compile(r"\x1b\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)")
_LONGER_NAME = re.compile(r"[\w-]|\.\w")


@dataclass(frozen=True, slots=True)
class HomeFolder:
    names: tuple[str, ...]
    """As it is called, and where it really is: programs show either."""

    @classmethod
    def at(cls, home: Path) -> HomeFolder:
        return cls(tuple({str(it): None for it in (home, home.resolve()) if it != Path("/")}))

    def hide(self, text: str) -> str:
        stream = self.stream()
        return stream.feed(text) + stream.flush()

    def stream(self) -> HomeFolderStream:
        return HomeFolderStream(self.names)


class HomeFolderStream:
    """For text in any chunks: what may become the name is held back until the next chunk decides."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = names
        self._held = ""

    def feed(self, text: str) -> str:
        view = _VisibleText(self._held + text)
        cut = view.raw_at(self._decided(view.text))
        self._held = view.raw[cut:]
        return self._hidden(view, cut)

    def flush(self) -> str:
        view, self._held = _VisibleText(self._held), ""
        return self._hidden(view, len(view.raw))

    def _decided(self, text: str) -> int:
        """How much of the text no later text can change. A dot may end a sentence, or begin a longer name."""
        return min((len(text) - _overlap(text, f"{name}.") for name in self._names), default=len(text))

    def _hidden(self, view: _VisibleText, cut: int) -> str:
        pieces: list[str] = []
        done = 0
        for start, end in self._places(view.text):
            first, after = view.raw_at(start), view.raw_at(end - 1) + 1
            if after > cut:
                break
            # Colours that are inside the name stay: the text behind it needs them.
            pieces += [view.raw[done:first], "~", *(it[0] for it in _NOISE.finditer(view.raw, first, after))]
            done = after
        text = "".join([*pieces, view.raw[done:cut]])
        return _WORDS.sub(self._hidden_words, text) if "\x1b]" in text else text

    def _hidden_words(self, found: re.Match[str]) -> str:
        words = found[0]
        for start, end in reversed(list(self._places(words))):
            words = f"{words[:start]}~{words[end:]}"
        return words

    def _places(self, text: str) -> Iterator[tuple[int, int]]:
        at = 0
        while found := [(start, start + len(it)) for it in self._names if (start := text.find(it, at)) >= 0]:
            start, at = min(found)
            if not _LONGER_NAME.match(text, at):
                yield start, at


class _VisibleText:
    """A text without escape sequences, and where each of its characters is in the raw one."""

    def __init__(self, raw: str) -> None:
        self.raw = raw
        cut = _CUT_ESCAPE.search(raw, max(0, len(raw) - _MAX_CUT_ESCAPE)) if "\x1b" in raw else None
        self._end = cut.start() if cut else len(raw)
        gaps = [it.span() for it in _NOISE.finditer(raw, 0, self._end)]
        edges = [0, *(edge for gap in gaps for edge in gap), self._end]
        self.text = "".join(raw[low:high] for low, high in zip(edges[::2], edges[1::2], strict=True))
        self._skipped = [0, *accumulate(high - low for low, high in gaps)]
        self._gaps = [low - skipped for (low, _), skipped in zip(gaps, self._skipped, strict=False)]

    def raw_at(self, place: int) -> int:
        return self._end if place >= len(self.text) else place + self._skipped[bisect_right(self._gaps, place)]


def _overlap(text: str, name: str) -> int:
    """How many characters at the end of the text are the beginning of the name."""
    return next((it for it in range(min(len(text), len(name)), 0, -1) if text.endswith(name[:it])), 0)
