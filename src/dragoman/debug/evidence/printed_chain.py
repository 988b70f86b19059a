"""The chain of an exception as its language prints it at the end, where no debugger tells more than one link of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from dragoman.debug.model import Raised

_MOST = 8


@dataclass(frozen=True, slots=True)
class _Print:
    link: re.Pattern[str]
    has_last: bool = True
    """Whether what ended the program is a link as well, and not only what led to it."""
    oldest_first: bool = False


_BY_ADAPTER: Mapping[str, _Print] = {
    "pwa-node": _Print(
        re.compile(r"^ +\[cause\]: (?:(?P<type>[A-Z][\w.$]*)(?: \[\w+\])?: )?(?P<message>.*?)(?: \{)?$", re.MULTILINE),
        has_last=False,
    ),
    "rdbg": _Print(re.compile(r"^\S.*?:\d+:in [`'].*?': (?P<message>.*) \((?P<type>[A-Z][\w:]*)\)$", re.MULTILINE)),
    "go": _Print(
        re.compile(r"^\t*(?P<type>panic): (?P<message>.*?)(?: \[recovered\])?$", re.MULTILINE), oldest_first=True
    ),
}


def chain_printed(adapter_id: str, raised: Raised, printed: str) -> tuple[Raised, ...]:
    """What ended the program, then what led to it, the nearest first. `printed`: since it was raised."""
    way = _BY_ADAPTER.get(adapter_id)
    found = list(way.link.finditer(printed)) if way is not None else []
    links = [Raised(type=it["type"] or "", message=it["message"]) for it in found[: _MOST + 1]]
    if way is None or not links:
        return (raised,)
    links = links[::-1] if way.oldest_first else links
    return tuple(_told(raised, links) if way.has_last else [raised, *links])


def _told(raised: Raised, links: list[Raised]) -> list[Raised]:
    """A debugger knows more of the one that it stopped at than the line that is printed of it."""
    first, *rest = links
    is_same = first.type == raised.type and first.message in raised.message
    return [raised if is_same else first, *rest]
