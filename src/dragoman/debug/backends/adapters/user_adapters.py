"""Adapters that the user declares in the settings: a command and the quirks that it has."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from dragoman.core.settings.adapters import AdapterSettings, QuirkSettings
from dragoman.debug.backends.adapters.discovery import find_on_path
from dragoman.debug.backends.adapters.spec import AdapterSpec, LaunchContext
from dragoman.debug.backends.quirks import AdapterQuirks
from dragoman.io.processes.command import ProcessCommand


def with_user_adapters(
    built_in: Iterable[AdapterSpec], adapters: Mapping[str, AdapterSettings]
) -> tuple[AdapterSpec, ...]:
    """Ours first: of two for one type, the later one is taken, which is the user's."""
    own = [_user_adapter(name, it, it.command) for name, it in adapters.items() if it.command is not None]
    return (*built_in, *own)


def _user_adapter(name: str, declared: AdapterSettings, words: list[str]) -> AdapterSpec:
    def command(context: LaunchContext) -> ProcessCommand:
        program = str(_program(name, words[0], context))
        rest = [word.replace("{port}", context.at).replace("{socket}", context.at) for word in words[1:]]
        return ProcessCommand([program, *rest], context.environment, context.workspace)

    return AdapterSpec(
        name=name,
        types=frozenset(declared.types or ()),
        adapter_id=declared.adapter_id or name,
        transport=declared.transport,
        command=command,
        arguments=_arguments,
        quirks=_quirks(declared.quirks),
        exception_filters=tuple(declared.exception_filters),
        facts=lambda _: {"adapter": name},
    )


def _program(name: str, word: str, context: LaunchContext) -> Path:
    """Found as the client would find it. A relative path would be in the workspace, which must not choose what runs."""
    path = Path(word).expanduser()
    found = path if path.is_absolute() and os.access(path, os.X_OK) else None
    if found is None and "/" not in word:
        found = find_on_path(word, context.adapter_environment)
    if found is None:
        raise DragomanError(
            "adapter_missing",
            localize("Adapter {name} from the settings was not found: {program}.", name=name, program=word),
            hint=localize("Set adapters.{name}.command to an absolute path or a program on PATH.", name=name),
        )
    return found


def _arguments(context: LaunchContext) -> dict[str, Any]:
    return dict(context.arguments)


def _quirks(quirks: QuirkSettings) -> AdapterQuirks:
    return AdapterQuirks(
        hit_forms=frozenset(quirks.hit_forms),
        ways_to_end=frozenset(quirks.ways_to_end),
        or_word=quirks.or_word,
        has_console=quirks.has_console,
        takes_log_messages=quirks.takes_log_messages,
        log_prefix=quirks.log_prefix,
        failure_types=frozenset(quirks.failure_types),
        stops_unasked=frozenset(quirks.stops_unasked),
        program_output_is_adapters=quirks.program_output_is_adapters,
    )
