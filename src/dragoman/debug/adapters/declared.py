"""Adapters that the user declared in the settings: a command of theirs, and how it differs from others."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from dragoman.adapter_settings import AdapterSettings, Quirks
from dragoman.debug.adapters.finding import on_path
from dragoman.debug.adapters.spec import AdapterSpec, Situation
from dragoman.debug.dialect import Dialect
from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.transport.command import Command


def with_declared(built_in: Iterable[AdapterSpec], adapters: Mapping[str, AdapterSettings]) -> tuple[AdapterSpec, ...]:
    """Ours first: of two for one type, the later one is taken, which is the user's."""
    own = [_declared(name, it, it.command) for name, it in adapters.items() if it.command is not None]
    return (*built_in, *own)


def _declared(name: str, told: AdapterSettings, words: list[str]) -> AdapterSpec:
    def command(situation: Situation) -> Command:
        program = str(_program(name, words[0], situation))
        rest = [word.replace("{port}", situation.at).replace("{socket}", situation.at) for word in words[1:]]
        return Command([program, *rest], situation.environment, situation.workspace)

    return AdapterSpec(
        name=name,
        types=frozenset(told.types or ()),
        adapter_id=told.adapter_id or name,
        transport=told.transport,
        command=command,
        arguments=_arguments,
        dialect=_dialect(told.quirks),
        exception_filters=tuple(told.exception_filters),
        program_output_is_adapters=told.quirks.program_output_is_adapters,
        facts=lambda _: {"adapter": name},
    )


def _program(name: str, word: str, situation: Situation) -> Path:
    """Where the client would find it; a relative path would be the workspace's, which may not name what runs."""
    path = Path(word).expanduser()
    found = path if path.is_absolute() and os.access(path, os.X_OK) else None
    if found is None and "/" not in word:
        found = on_path(word, situation.searched)
    if found is None:
        raise DragomanError(
            "adapter_missing",
            say("The adapter {name} of the settings was not found: {program}.", name=name, program=word),
            hint=say("Give adapters.{name}.command an absolute path, or a program on PATH.", name=name),
        )
    return found


def _arguments(situation: Situation) -> dict[str, Any]:
    return dict(situation.arguments)


def _dialect(quirks: Quirks) -> Dialect:
    return Dialect(
        hit_forms=frozenset(quirks.hit_forms),
        ways_to_end=frozenset(quirks.ways_to_end),
        or_word=quirks.or_word,
        has_console=quirks.has_console,
        takes_log_messages=quirks.takes_log_messages,
        log_prefix=quirks.log_prefix,
        failure_types=frozenset(quirks.failure_types),
        stops_unasked=frozenset(quirks.stops_unasked),
    )
