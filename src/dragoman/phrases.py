"""What we say to people: an English template with named values, and its Chinese beside it.

The template is the key: `dragoman.chinese` maps it to the Chinese one, and a test fails where that is missing.
Standard library alone, because the fast commands print phrases before anything heavy is imported.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

Language = Literal["en", "zh"]
_STOPS = "。！？：；，、…）”"


@dataclass(frozen=True, slots=True)
class Phrase:
    """One sentence to a person; it becomes text in a face, never earlier."""

    template: str
    values: Mapping[str, object] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.in_language("en")

    def in_language(self, language: Language) -> str:
        template = _chinese(self.template) if language == "zh" else self.template
        return template.format(**{name: _shown(value, language) for name, value in self.values.items()})


def say(template: str, /, **values: object) -> Phrase:
    """The only way to make a phrase, so that a test can find every template in the source."""
    return Phrase(template, values)


def joined(between: str, parts: Iterable[object]) -> Phrase:
    """Several as one; the phrases among them in whichever language it is shown. `between` has no words."""
    values = {f"part{at}": part for at, part in enumerate(parts)}
    return Phrase(between.join(f"{{{name}}}" for name in values), values)


def sentences(said: Iterable[Phrase | str | None], language: Language) -> str:
    """One after another; between those of Chinese stands no space, and each but the last has its full stop."""
    texts = [text for it in said if it and (text := it.in_language(language) if isinstance(it, Phrase) else it)]
    if language == "en":
        return " ".join(texts)
    return "".join([*(text if text[-1] in _STOPS else f"{text}。" for text in texts[:-1]), *texts[-1:]])


class Spoken(str):
    """A sentence of ours where only text can be kept: English for programs, with its phrase for whoever shows it."""

    __slots__ = ("phrase",)
    phrase: Phrase


def spoken(phrase: Phrase) -> Spoken:
    text = Spoken(phrase)
    text.phrase = phrase
    return text


def text_in(text: str, language: Language) -> str:
    """What others said stays as it is."""
    return text.phrase.in_language(language) if isinstance(text, Spoken) else text


def preferred_language(environment: Mapping[str, str] = os.environ) -> Language:
    """`DRAGOMAN_LANG` first, then the locale variables in their POSIX order."""
    for name in ("DRAGOMAN_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        value = environment.get(name, "")
        if value:
            return "zh" if value.lower().startswith("zh") else "en"
    return "en"


def language_of(locale: str | None) -> Language:
    """Of what a client says of itself (`zh-CN`); ours where it says nothing."""
    if not locale:
        return preferred_language()
    return "zh" if locale.lower().startswith("zh") else "en"


def _shown(value: object, language: Language) -> object:
    if isinstance(value, Phrase):
        return value.in_language(language)
    return text_in(value, language) if isinstance(value, Spoken) else value


def _chinese(template: str) -> str:
    from dragoman.chinese import CHINESE  # noqa: PLC0415  only loaded for those who read it

    return CHINESE.get(template, template)
