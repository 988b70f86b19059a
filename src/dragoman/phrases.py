"""What we say to people: an English template with named values, and its Chinese beside it.

The template is the key: `dragoman.chinese` maps it to the Chinese one, and a test fails where that is missing.
Standard library alone, because the fast commands print phrases before anything heavy is imported.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Language = Literal["en", "zh"]


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
    return value.in_language(language) if isinstance(value, Phrase) else value


def _chinese(template: str) -> str:
    from dragoman.chinese import CHINESE  # noqa: PLC0415  only loaded for those who read it

    return CHINESE.get(template, template)
