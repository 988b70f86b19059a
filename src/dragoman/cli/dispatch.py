"""Which command was asked for. What must be instant is served before anything heavy is imported."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable

from dragoman import __version__
from dragoman.cli.output import ExitCode, finish_output, forget_output, report, show_text, speak_every_locale
from dragoman.errors import DragomanError, UsageError, system_refused


def serve(arguments: list[str]) -> int:
    speak_every_locale()
    status = run(arguments)
    finish_output()
    return status


def run(arguments: list[str]) -> int:
    arguments = _meant(arguments)
    try:
        fast = _fast(arguments)
        status = fast() if fast else _dispatch(arguments)
        sys.stdout.flush()  # what cannot be written is met here, not by the interpreter after our last word
        return status
    except DragomanError as error:
        return report(error, as_json=_wants_json(arguments))
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        forget_output()
        return ExitCode.OK
    except OSError as error:
        return _refused(system_refused(error), as_json=_wants_json(arguments))


def _meant(arguments: list[str]) -> list[str]:
    """Words that other tools use for the same."""
    match arguments:
        case [word, *rest] if word in _ALSO:
            return [_ALSO[word], *rest]
    return arguments


def _refused(error: DragomanError, *, as_json: bool) -> int:
    """It may be the output itself that cannot be written, and only writing tells."""
    if as_json and finish_output():
        status = report(error, as_json=True)
        if finish_output():
            return status
    return report(error)


def _wants_json(arguments: list[str]) -> bool:
    """What comes after the double dash is another program's."""
    return "--json" in itertools.takewhile(lambda word: word != "--", arguments)


def _fast(arguments: list[str]) -> Callable[[], int] | None:
    if arguments[:1] == ["debug"]:
        return _fast_move(arguments[1:])
    if arguments[:1] == ["dap"]:
        return _fast_dap(arguments[1:])
    if arguments and arguments[0] in _LIFE:
        return _fast_life(*arguments)
    if arguments[:1] == ["help"]:
        return lambda: _help(arguments[1:])
    *words, last = arguments or [""]
    if tuple(words) in _FAST_WITH_VALUE and not last.startswith("-"):
        return lambda: _FAST_WITH_VALUE[tuple(words)](last)
    return _FAST.get(tuple(arguments))


def _fast_move(words: list[str]) -> Callable[[], int] | None:
    """A person or a script steps many times: each in its plain form, without a library that only parses options."""
    name, *options = words or [""]
    if name not in _MOVES or options not in ([], ["--json"]):
        return None

    def moved() -> int:
        from dragoman.cli.debug.moves import move

        return move(name, as_json=bool(options))

    return moved


def _fast_dap(words: list[str]) -> Callable[[], int] | None:
    """An editor waits for its adapter; what is not in the plain form is explained by who parses it slowly."""
    flags, values = {"--stdio": False, "--read-only": False}, {"--attach": "", "--workspace": "."}
    rest = iter(words)
    for word in rest:
        if word in values and (value := next(rest, "-")) and not value.startswith("-"):
            values[word] = value
        elif word in flags:
            flags[word] = True
        else:
            return None

    def served() -> int:
        from pathlib import Path

        from dragoman.cli.dap import dap

        folder = Path(values["--workspace"])
        return dap(stdio=flags["--stdio"], attach=values["--attach"], read_only=flags["--read-only"], workspace=folder)

    return served


def _fast_life(name: str, *flags: str) -> Callable[[], int] | None:
    """Editors and scripts see to it that the daemon runs before they do anything else."""
    if not _LIFE[name].issuperset(flags):
        return None

    def lived() -> int:
        from dragoman.cli import up

        status: int = getattr(up, name)(**{flag[2:].replace("-", "_"): True for flag in flags})
        return status

    return lived


def _help(words: list[str]) -> int:
    """Of the command that the words name, and of nothing else: a word too much may be a slip in the first."""
    from dragoman.cli.commands import build_app
    from dragoman.cli.help import unknown_command

    words = [] if words in (["help"], ["version"]) else _meant(words)
    _, apps, rest = build_app().parse_commands(words)
    if rest:
        raise unknown_command(rest[0], apps)
    return _dispatch([*words, "--help"])


def _too_much(words: list[str]) -> UsageError:
    from dragoman.cli.help import too_much

    return too_much(words)


def _version() -> int:
    show_text(f"dragoman {__version__}")
    return ExitCode.OK


def _status(*, as_json: bool) -> int:
    from dragoman.cli.status import status

    return status(json=as_json)


def _mcp(workspace: str = ".", tools: str = "") -> int:
    from pathlib import Path

    from dragoman.cli.mcp import mcp

    return mcp(workspace=Path(workspace), tools=tools)


def _dispatch(arguments: list[str]) -> int:
    from cyclopts import CycloptsError

    from dragoman.cli.commands import build_app

    if arguments[:1] in ([_VERSION], ["-V"]):
        raise _too_much(arguments[1:])
    try:
        result = build_app()(_prepared(arguments), exit_on_error=False, print_error=False)
    except CycloptsError as error:
        from dragoman.cli.help import not_understood

        raise not_understood(error) from error
    except SystemExit as ending:
        if isinstance(ending.__context__, BrokenPipeError):  # of rich, which prints the help
            raise ending.__context__ from None
        raise
    return result if isinstance(result, int) else ExitCode.OK


def _prepared(arguments: list[str]) -> list[str]:
    if arguments[:1] != ["debug"]:
        return arguments
    from dragoman.cli.debug.app import app
    from dragoman.cli.debug.places import folded, word_first
    from dragoman.cli.debug.traces import folded_traces

    return folded(folded_traces(word_first(arguments, frozenset(app))))


_VERSION = "--version"
_ALSO = {"version": _VERSION, "start": "up", "stop": "down"}
_LIFE = {
    "up": frozenset({"--json", "--yes", "--take-over", "--foreground"}),
    "down": frozenset({"--json", "--yes"}),
    "restart": frozenset({"--json", "--yes"}),
}
_MOVES = frozenset({"next", "step", "out", "continue", "pause", "wait", "restart", "stop"})

_FAST: dict[tuple[str, ...], Callable[[], int]] = {
    (_VERSION,): _version,
    ("-V",): _version,
    ("status",): lambda: _status(as_json=False),
    ("status", "--json"): lambda: _status(as_json=True),
    ("mcp",): _mcp,
}

_FAST_WITH_VALUE: dict[tuple[str, ...], Callable[[str], int]] = {
    ("mcp", "--workspace"): _mcp,
    ("mcp", "--tools"): lambda tools: _mcp(tools=tools),
}
