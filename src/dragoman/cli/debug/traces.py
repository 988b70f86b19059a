"""`--trace FILE:LINE EXPR… [--if EXPR]` and `--until-crash` as people write them, and as the tools take them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dragoman.cli.debug.places import place_of
from dragoman.errors import DragomanError
from dragoman.phrases import say

_TRACE = "--trace"
_IF = "--if"
# No argument can hold it, so it ends one without doubt.
_END = "\0"
_NOT_HERE = ("no_debug", "process_id", "inputs")


def folded_traces(arguments: Sequence[str]) -> list[str]:
    """One token each: the words up to the next option are its expressions, and an --if behind them is its own."""
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
        done += [_TRACE, _END.join(parts)]
    return done


def point_of(token: str) -> dict[str, Any]:
    place, *words = token.split(_END)
    condition = words[-1] if words[-2:-1] == [_IF] else ""
    expressions = words[:-2] if condition else words
    if not expressions:
        raise DragomanError(
            "nothing_to_trace",
            say("--trace needs at least one expression behind its place."),
            hint=say("For example: dragoman debug app.py --trace app.py:12 n total --if 'n > 3'"),
        )
    file, line, _ = place_of(place)
    return {"file_path": file, "line_number": line, "expressions": expressions, "condition": condition}


def whole_run(
    tokens: Sequence[str], start: Mapping[str, Any], *, until_crash: bool, breaks: Sequence[str]
) -> tuple[str, dict[str, Any]] | None:
    """The tool that answers about a whole run and what it takes, from what a start takes; none where none is meant."""
    if not tokens and not until_crash:
        return None
    if breaks or (tokens and until_crash) or any(name in start for name in _NOT_HERE):
        raise DragomanError(
            "not_with_whole_run",
            say(
                "--trace or --until-crash runs the program to its end: without --break, --no-debug, --pid and --input."
            ),
            hint=say("Trace first; then stop where the table shows something wrong."),
        )
    if until_crash:
        return "explain_crash", dict(start)
    return "trace", {**start, "points": [point_of(token) for token in tokens]}
