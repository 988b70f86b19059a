"""`--on TARGET`, `--env NAME`, `--map [TARGET:]LOCAL=REMOTE` and `--allow-stop`: global options.

They are taken out of the arguments before these are parsed.

Standard library only: `dragoman mcp --on …` starts as fast as without it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dragoman.core.errors import ErrorSpec, UsageError
from dragoman.core.localization import localize

if TYPE_CHECKING:
    from dragoman.io.net.targets import Target

VARIABLE = "DRAGOMAN_ON"
_ON, _ENV, _MAP, _ALLOW_STOP = "--on", "--env", "--map", "--allow-stop"

REMOTE_COMMANDS = frozenset(
    {
        *("approvals", "ask", "client-config", "dap", "debug", "doctor", "history", "journal", "last", "mcp", "page"),
        *("replay", "report", "setup", "status", "stop", "stop-waiting", "terminals", "trust", "why"),
    }
)
# With DRAGOMAN_ON, these would change this machine's daemon while the person means another.
_ONLY_HERE = frozenset({"down", "forget", "gateway", "logs", "open", "restart", "share", "token", "uninstall", "up"})
_SEVERAL = frozenset({"client-config", "mcp", "status", "stop"})
MAY_STOP = frozenset({"client-config", "dap", "debug", "mcp", "page"})
LOCAL = "local"
"""This machine, where it is one of several targets; alone, it is what a command without `--on` uses."""


@dataclass(frozen=True, slots=True)
class RemoteOptions:
    targets: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    """Names of the variables that cross to programs there."""
    allows_stop: bool = False
    """Whether programs that were running there before may be halted."""
    maps: tuple[str, ...] = ()
    """`LOCAL=REMOTE`: a folder here, and what it is called there; `TARGET:` before it for one of several targets."""


@dataclass(slots=True)
class _Chosen:
    options: RemoteOptions = field(default_factory=RemoteOptions)


_chosen = _Chosen()


@contextmanager
def choosing(options: RemoteOptions) -> Iterator[None]:
    """For one command. A process runs one command, so this is state of the process; threads of it see it too."""
    before, _chosen.options = _chosen.options, options
    try:
        yield
    finally:
        _chosen.options = before


def extract_options(
    arguments: Sequence[str], environment: Mapping[str, str] = os.environ
) -> tuple[list[str], RemoteOptions]:
    """The arguments without the global options, and those. Words behind `--` belong to another program."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    words, targets = _extract(list(arguments[:end]), _ON)
    named = bool(targets)
    if not named and environment.get(VARIABLE) and words[:1] != ["pipe"]:
        targets = [environment[VARIABLE]]
    if not targets or not words or "--help" in words or "-h" in words or words[0] == "help":
        return [*words, *arguments[end:]], RemoteOptions()
    targets = list(dict.fromkeys(targets))
    if targets == [LOCAL]:
        return [*words, *arguments[end:]], RemoteOptions()
    others = [word for word in words if word != _ALLOW_STOP]
    allows = len(others) < len(words) and others[:1] != [] and others[0] in MAY_STOP
    words = others if allows else words
    if words[0] not in REMOTE_COMMANDS:
        if named or words[0] in _ONLY_HERE:
            raise _only_here(command=words[0])
        return [*words, *arguments[end:]], RemoteOptions()
    if len(targets) > 1 and words[0] not in _SEVERAL:
        raise _one_target(command=words[0])
    words, variables = _extract(words, _ENV, is_ours=lambda value: "=" not in value)
    from dragoman.io.net.targets import require_variable_name

    checked = tuple(require_variable_name(name) for name in variables)
    words, maps = _extract(words, _MAP)
    return [*words, *arguments[end:]], RemoteOptions(tuple(targets), checked, allows, tuple(maps))


def _extract(
    words: list[str], option: str, *, is_ours: Callable[[str], bool] = lambda _: True
) -> tuple[list[str], list[str]]:
    kept, values = [], []
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if name != option:
            kept.append(word)
            continue
        given = value if equals else next(rest, "")
        if not given:
            raise UsageError("usage", localize("Missing value for {name}.", name=option))
        if is_ours(given):
            values.append(given)
        else:  # `debug --env NAME=VALUE`
            kept += [word] if equals else [word, given]
    return kept, values


def chosen_targets() -> dict[str, Target | None]:
    """By name, in the order in which they were written; None for this machine."""
    return {name: None if name == LOCAL else _find(name) for name in _chosen.options.targets}


def chosen_target() -> Target | None:
    """The target of this command; None for this machine."""
    return _find(_chosen.options.targets[0]) if _chosen.options.targets else None


def chosen_names() -> tuple[str, ...]:
    return _chosen.options.targets


def is_remote() -> bool:
    return bool(_chosen.options.targets)


def crossing_variables() -> dict[str, str]:
    """The variables of this environment that cross: those that were named, and no other."""
    return {name: os.environ[name] for name in _chosen.options.variables if name in os.environ}


def allows_stop() -> bool:
    return _chosen.options.allows_stop


def crossing_names() -> tuple[str, ...]:
    return _chosen.options.variables


def chosen_maps() -> tuple[str, ...]:
    return _chosen.options.maps


def _find(name: str) -> Target:
    from dragoman.io.net.targets import find_target

    return find_target(name, _declared)


def _declared() -> dict[str, Sequence[str]]:
    """The names in the user's settings. A workspace has no say: its targets would run commands as the user."""
    from dragoman.core.paths import find_paths
    from dragoman.core.settings.loader import load_settings

    return {name: target.command for name, target in load_settings(find_paths()).targets.items()}


def refuse_remote(command: str) -> None:
    if is_remote():
        raise _only_here(command=command)


class UsageErrorSpec(ErrorSpec):
    error_type = UsageError


_only_here = UsageErrorSpec(
    "usage",
    "`dragoman {command}` works on this machine only.",
    "Omit --on and unset DRAGOMAN_ON, or run the command there.",
)
_one_target = UsageErrorSpec("usage", "`dragoman {command}` works on one target at a time.", "Pass --on once.")
