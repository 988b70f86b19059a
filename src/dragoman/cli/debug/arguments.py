"""Parse FILE:LINE, and attach `--if`, `--hit` and `--log` to the `--break` or `--trace` before them.

The option parser does not keep that order, so these words are joined into one token before it runs.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dragoman.cli.caller import working_folder
from dragoman.cli.remote.options import is_remote
from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize

_BREAK = ("--break", "-b")
# Arguments cannot contain NUL, so it is a safe separator.
_FOLD_SEPARATOR = "\0"
_TRACE = "--trace"
_IF = "--if"
_EXCLUDED_OPTIONS = ("no_debug", "process_id", "inputs")

_CONDITIONS = {"--if": "condition", "--hit": "hit_condition", "--log": "log_message"}
_LOCATION = re.compile(r"(?P<file>.+?):(?P<line>[0-9]{1,9})(?::(?P<column>[0-9]{1,9}))?", re.DOTALL)
# Options that all subcommands share, and how many words each takes.
_SHARED_OPTIONS = {"--json": 1, "--session": 2, "--workspace": 2, "--timeout": 2, "--frame": 2, "--thread": 2}


def move_command_first(arguments: Sequence[str], commands: Collection[str]) -> list[str]:
    """Turn `debug --json eval x` into `debug eval --json x`: these options mean the same for every subcommand."""
    at = 1
    while at < len(arguments) and arguments[at].partition("=")[0] in _SHARED_OPTIONS:
        at += 1 if "=" in arguments[at] else _SHARED_OPTIONS[arguments[at]]
    if at == 1 or at >= len(arguments) or arguments[at] not in commands or arguments[at].startswith("-"):
        return list(arguments)
    return [*arguments[:1], arguments[at], *arguments[1:at], *arguments[at + 1 :]]


def fold_conditions(arguments: Sequence[str]) -> list[str]:
    """Join `--break a.py:3 --if x` into one token, because the option parser does not keep the order of options."""
    done: list[str] = []
    is_behind_break = False
    rest = iter(_split_equals(arguments))
    for word in rest:
        if word == "--":
            return [*done, word, *rest]
        value = next(rest, None) if word in (*_BREAK, *_CONDITIONS) else None
        if value is not None and word in _CONDITIONS and is_behind_break:
            done[-1] += f"{_FOLD_SEPARATOR}{word}{_FOLD_SEPARATOR}{value}"
            continue
        is_behind_break = word in _BREAK and value is not None
        done += [word] if value is None else [word, value]
    return done


def _split_equals(arguments: Sequence[str]) -> Iterator[str]:
    """Turn `--if=x` into `--if x`."""
    words = iter(arguments)
    for word in words:
        if word == "--":
            yield word
            yield from words
            return
        name, equals, value = word.partition("=")
        yield from (name, value) if equals and name in (*_BREAK, *_CONDITIONS) else (word,)


def parse_breakpoint(token: str) -> dict[str, Any]:
    """Convert a joined `--break` token to the arguments of `set_breakpoint`."""
    place, *words = token.split(_FOLD_SEPARATOR)
    conditions = dict(zip(words[::2], words[1::2], strict=True))
    return breakpoint_arguments(place, **{_CONDITIONS[name]: value for name, value in conditions.items()})


def breakpoint_arguments(place: str, **conditions: str) -> dict[str, Any]:
    file, line, column = parse_location(place)
    asked = {"file_path": file, "line_number": line, "column_number": column, **conditions}
    return {name: value for name, value in asked.items() if value}


def parse_location(text: str) -> tuple[str, int, int | None]:
    match = _LOCATION.fullmatch(text)
    if match is None:
        raise DragomanError(
            "bad_place",
            localize("Invalid location: {text}.", text=ascii(text[:200])),
            hint=localize("Use FILE:LINE, for example app.py:12."),
        )
    return absolute_path(match["file"]), int(match["line"]), int(match["column"]) if match["column"] else None


def absolute_path(path: str) -> str:
    """Resolve a path as a shell does: relative to the working folder, not to the workspace.

    A path on another machine is resolved there, relative to the workspace, unless it is in a folder of `--map`.
    """
    if is_remote():
        from dragoman.cli.remote.folder_maps import mapped_path

        return mapped_path(path) or path
    return str(Path(working_folder()) / Path(path).expanduser())


def fold_traces(arguments: Sequence[str]) -> list[str]:
    """Join each `--trace` with the expressions up to the next option, and with an `--if` that follows them."""
    done: list[str] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "--":
            return [*done, word, *rest]
        if word != _TRACE and not word.startswith(f"{_TRACE}="):
            done.append(word)
            continue
        parts = [word.removeprefix(f"{_TRACE}=")] if word != _TRACE else []
        while rest and not rest[0].startswith("--"):
            parts.append(rest.pop(0))
        if rest and rest[0].startswith(f"{_IF}="):
            parts += [_IF, rest.pop(0).removeprefix(f"{_IF}=")]
        elif rest[:1] == [_IF] and len(rest) > 1:
            parts += [rest.pop(0), rest.pop(0)]
        done += [_TRACE, _FOLD_SEPARATOR.join(parts)]
    return done


def parse_trace_point(token: str) -> dict[str, Any]:
    place, *words = token.split(_FOLD_SEPARATOR)
    condition = words[-1] if words[-2:-1] == [_IF] else ""
    expressions = words[:-2] if condition else words
    if not expressions:
        raise DragomanError(
            "nothing_to_trace",
            localize("--trace needs at least one expression after FILE:LINE."),
            hint=localize("For example: dragoman debug app.py --trace app.py:12 n total --if 'n > 3'"),
        )
    file, line, _ = parse_location(place)
    return {"file_path": file, "line_number": line, "expressions": expressions, "condition": condition}


def whole_run_call(
    tokens: Sequence[str], start: Mapping[str, Any], *, until_crash: bool, breaks: Sequence[str]
) -> tuple[str, dict[str, Any]] | None:
    """The tool call for a whole run (`trace` or `explain_crash`), from the arguments of a start; None if not
    requested.
    """
    if not tokens and not until_crash:
        return None
    if breaks or (tokens and until_crash) or any(name in start for name in _EXCLUDED_OPTIONS):
        raise DragomanError(
            "not_with_whole_run",
            localize(
                "--trace or --until-crash cannot be combined with each other, --break, --no-debug, --pid or --input."
            ),
            hint=localize("Trace first, then set a breakpoint where the table shows a wrong value."),
        )
    if until_crash:
        return "explain_crash", dict(start)
    return "trace", {**start, "points": [parse_trace_point(token) for token in tokens]}
