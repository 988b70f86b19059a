"""Options of commands, declared once: the fast path parses by them, and the full parser is built from them.

The fast path understands only the plain form (`--flag`, `--name value`) and declines everything else, which the full
parser then explains or refuses. Nothing is imported here, not even `typing`: a shell that opens waits for this module.
"""

from __future__ import annotations

TYPE_CHECKING = False  # no `typing`: it would delay a new shell
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, Literal

    from dragoman.core.localization import LocalizedText

    Kind = Literal["flag", "text", "name", "folder", "session", "port", "seconds", "thread", "shell"]
    Help = Callable[[Callable[[str], LocalizedText]], LocalizedText]

# Other types are converted and checked by the full parser.
_FAST_KINDS = ("flag", "text", "name", "folder", "session")


class Option:
    """How an option is written, and what it takes. `help` is called with `localize` only when help is shown."""

    __slots__ = ("default", "help", "is_fast", "keyword", "kind", "names")

    def __init__(
        self,
        names: str,
        help: Help,
        kind: Kind = "flag",
        *,
        default: object = None,
        keyword: str = "",
        is_fast: bool = True,
    ) -> None:
        self.names = names.split()
        self.help = help
        self.kind = kind
        self.default = False if kind == "flag" else default
        self.keyword = keyword or self.names[0][2:].replace("-", "_")
        self.is_fast = is_fast and kind in _FAST_KINDS


class ParsedOptions:
    """The given options by their keywords, and the words after `--`."""

    __slots__ = ("command", "given")

    def __init__(self) -> None:
        self.given: dict[str, Any] = {}
        self.command: list[str] = []


def parse_plain(
    options: Iterable[Option], words: Iterable[str], *, takes_command: bool = False
) -> ParsedOptions | None:
    """Parse the plain form of fast options, each given once; None for anything else."""
    known = {name: option for option in options if option.is_fast for name in option.names}
    parsed = ParsedOptions()
    rest = iter(words)
    for word in rest:
        if word == "--" and takes_command:
            parsed.command = list(rest)
            return parsed if parsed.command else None
        option = known.get(word)
        if option is None or option.keyword in parsed.given:
            return None
        if option.kind == "flag":
            parsed.given[option.keyword] = True
            continue
        value = next(rest, "")
        if not _is_plain(value, option):
            return None
        parsed.given[option.keyword] = value
    return parsed


def _is_plain(value: str, option: Option) -> bool:
    """Whether the word is a plain value. The name of a client is passed on by a program and may begin with a dash."""
    return value != "" and (option.kind == "name" or not value.startswith("-"))
