"""English that is left in a Chinese text: our own labels and states, not code, names, or what a program said."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from dragoman.core.localization import LocalizedText
from tests.catalogues import CHINESE, chinese_of

# Labels and states, which nobody may mistake for data: whole words of the tables that say something else in Chinese.
OURS = frozenset(
    english for english in chinese_of("src/dragoman/core/labels.py") if re.fullmatch(r"[A-Za-z ]+", english)
)
_LABELS = frozenset(english.rstrip(":") for english in CHINESE if re.fullmatch(r"[a-z ]+:?", english))
_LABEL = re.compile(r"\s*([a-z]+(?: [a-z]+)*):(?:\s|$)")
# Between words: spaces, and punctuation that no identifier holds.
_BETWEEN = re.compile(r"[\s，。：；？！（）“”、……|]+")
_AROUND = ".,;:()[]<>*\"'"
_CODE = re.compile(r"`[^`]*`|(?m:^ *\| .*$)")  # and what was printed, which stands behind a bar


def english_in(line: LocalizedText, codes: Collection[str] = ()) -> Iterator[str]:
    """A label that is part of the data of a line, and states that were not made words; `codes` are identifiers."""
    label = _LABEL.match(str(line)) if line.template == "{text}" else None
    if label and label[1] in _LABELS and label[1] not in codes and "->" not in str(line):
        yield f"a label: {str(line)[:80]!r}"
    yield from _states_in(line)


def _states_in(localized: LocalizedText) -> Iterator[str]:
    if localized.template == "{text}":  # what is in no list of ours, or a whole line of somebody's
        return
    for name, value in localized.values.items():
        if isinstance(value, LocalizedText):
            yield from _states_in(value)
        elif isinstance(value, str) and value in OURS:
            yield f"{name} is {value!r} in {localized.template!r}"


def english_left(text: str, known: Iterable[str] = ()) -> list[str]:
    """Words that are neither part of an identifier or a path, nor Latin in our own Chinese, nor `known`."""
    fine = (_latin() | {word for it in known for word in re.findall(r"[A-Za-z]+", it)}) - (OURS - set(known))
    pieces = [piece.strip(_AROUND) for piece in _BETWEEN.split(_CODE.sub(" ", text))]
    found = [piece for piece in pieces if re.fullmatch(r"[A-Za-z]{2,}", piece) and not piece.isupper()]
    return [piece for piece in found if piece not in fine]


def _latin() -> set[str]:
    return {word for chinese in CHINESE.values() for word in re.findall(r"[A-Za-z]+", chinese)}
