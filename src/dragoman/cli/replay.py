"""`dragoman replay`: a recorded terminal once more, in its own time or faster."""

from __future__ import annotations

import base64
import itertools
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import IO, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from dragoman.cli import completers
from dragoman.cli.output import ExitCode, shown, warn
from dragoman.cli.viewing import viewer
from dragoman.phrases import say
from dragoman.places import find_places
from dragoman.transport.control_link import ControlLink
from dragoman.wire.control import Item

_IN_MEMORY = 16 << 20
_SILENT_AT_MOST_S = 60.0
_HEAD = struct.Struct(">QI")


def replay(
    terminal: Annotated[
        str,
        Parameter(
            help=shown(say("A terminal's id, as `dragoman terminals` shows it.")), completer=completers.terminals
        ),
    ],
    /,
    *,
    speed: Annotated[
        float, Parameter(validator=Number(gt=0, lte=1e6), help=shown(say("So many times as fast as it was.")))
    ] = 1.0,
    idle: Annotated[
        float, Parameter(validator=Number(gte=0, lte=86_400), help=shown(say("Seconds at most without anything new.")))
    ] = 2.0,
) -> int:
    """All of it is fetched first: a viewer who stops to look must not hold up the daemon."""
    with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as spool:
        with ControlLink.open(find_places()) as link:
            count = _fetch(link, terminal, spool)
        if not count:
            warn(say("Nothing of what this terminal showed is kept."))
            return ExitCode.OK
        spool.seek(0)
        with viewer() as screen:
            play(_stored(spool), screen.show, time.sleep, speed=speed, idle_s=idle)
    return ExitCode.OK


def _fetch(link: ControlLink, terminal: str, spool: IO[bytes]) -> int:
    count = 0
    for item in link.stream("terminal_pieces", {"terminal": terminal}, idle_s=_SILENT_AT_MOST_S):
        if isinstance(item, Item):
            data = base64.b64decode(item.value["data"])
            spool.write(_HEAD.pack(int(item.value["at_ms"]), len(data)) + data)
            count += 1
    return count


def _stored(spool: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    while head := spool.read(_HEAD.size):
        at_ms, length = _HEAD.unpack(head)
        yield at_ms, spool.read(length)


def play(
    pieces: Iterator[tuple[int, bytes]],
    show: Callable[[bytes], None],
    sleep: Callable[[float], None],
    *,
    speed: float,
    idle_s: float,
) -> None:
    first = next(pieces, None)
    if first is None:
        return
    before_ms = first[0]
    for at_ms, data in itertools.chain([first], pieces):
        pause_s = min(max(0, at_ms - before_ms) / 1000, idle_s) / speed
        if pause_s > 0:
            sys.stdout.flush()
            sleep(pause_s)
        before_ms = at_ms
        show(data)
