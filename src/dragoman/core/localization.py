"""Text for people: an English template with named values, shown in the reader's language.

The template is the key of the translation; a test fails if the Chinese is missing. Standard library only: the fast
commands print text before anything heavy is imported.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import gettext

Language = Literal["en", "zh"]
_SENTENCE_ENDS = "。！？：；，、…）”"


@dataclass(frozen=True, slots=True)
class LocalizedText:
    """A text for a person: a template and its values. It becomes a string only where it is shown."""

    template: str
    values: Mapping[str, object] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.in_language("en")

    def in_language(self, language: Language) -> str:
        template = _translate(self.template) if language == "zh" else self.template
        return template.format(**{name: _render(value, language) for name, value in self.values.items()})


def localize(template: str, /, **values: object) -> LocalizedText:
    """Make a localized text. Nothing else does, so that a test can find every template in the source."""
    return LocalizedText(template, values)


def join_texts(between: str, parts: Iterable[object]) -> LocalizedText:
    """Join several texts; each is translated when the result is shown. `between` contains no words."""
    values = {f"part{at}": part for at, part in enumerate(parts)}
    return LocalizedText(between.join(f"{{{name}}}" for name in values), values)


def join_sentences(sentences: Iterable[LocalizedText | str | None], language: Language) -> str:
    """Join sentences. Chinese has no space between them, and each except the last gets its full stop."""
    texts = [
        text for it in sentences if it and (text := it.in_language(language) if isinstance(it, LocalizedText) else it)
    ]
    if language == "en":
        return " ".join(texts)
    return "".join([*(text if text[-1] in _SENTENCE_ENDS else f"{text}。" for text in texts[:-1]), *texts[-1:]])


class LocalizedStr(str):
    """A localized text where only a `str` fits: English for programs, with its `LocalizedText` for people."""

    __slots__ = ("phrase",)
    phrase: LocalizedText


def localized_str(phrase: LocalizedText) -> LocalizedStr:
    text = LocalizedStr(phrase)
    text.phrase = phrase
    return text


def text_in_language(text: str, language: Language) -> str:
    """The text in a language. A plain string stays as it is."""
    return text.phrase.in_language(language) if isinstance(text, LocalizedStr) else text


def preferred_language(environment: Mapping[str, str] = os.environ) -> Language:
    """`DRAGOMAN_LANG` first, then the locale variables in their POSIX order."""
    for name in ("DRAGOMAN_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        value = environment.get(name, "")
        if value:
            return "zh" if value.lower().startswith("zh") else "en"
    return "en"


def language_of_locale(locale: str | None) -> Language:
    """The language of a client's locale (`zh-CN`); the daemon's if there is none."""
    if not locale:
        return preferred_language()
    return "zh" if locale.lower().startswith("zh") else "en"


def _render(value: object, language: Language) -> object:
    if isinstance(value, LocalizedText):
        return value.in_language(language)
    return text_in_language(value, language) if isinstance(value, LocalizedStr) else value


def _translate(template: str) -> str:
    return _catalogue().gettext(template) if template else template  # the entry of "" is the catalogue's header


@functools.cache
def _catalogue() -> gettext.NullTranslations:
    """The compiled catalogue; English if it has not been compiled."""
    import gettext  # noqa: PLC0415  only loaded for those who read another language

    return gettext.translation("dragoman", Path(__file__).parents[1] / "locale", ["zh_CN"], fallback=True)
