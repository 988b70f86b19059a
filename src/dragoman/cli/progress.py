"""Progress of long commands: a spinner on a terminal, a plain line elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from dragoman.cli.output import shown
from dragoman.phrases import Phrase


@contextmanager
def working(on: Phrase) -> Iterator[None]:
    if not sys.stderr.isatty():
        sys.stderr.write(f"{shown(on)}…\n")
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(f"{shown(on)}…"):
        yield
