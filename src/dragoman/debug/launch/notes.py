"""What a start tells besides: it works, but perhaps not as whoever wrote the file meant."""

from __future__ import annotations

from dataclasses import dataclass

from dragoman.phrases import Phrase


@dataclass(frozen=True, slots=True)
class Note:
    """`about` is what the sentence speaks of, in a file's own words: data beside it, and no part of it."""

    message: Phrase
    about: str

    def __str__(self) -> str:
        return f"{self.message} {self.about}"
