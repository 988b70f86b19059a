"""Choose the command to run; serve the fast ones before anything heavy is imported.

`parser.fast_commands` parses the plain forms of `status`, `mcp`, `up`, `debug next` …; cyclopts parses everything else.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable

from dragoman import __version__
from dragoman.cli.output import (
    ExitCode,
    discard_output,
    escape_unencodable_output,
    flush_output,
    report_error,
    show_text,
)
from dragoman.cli.parser.fast_commands import find_fast
from dragoman.cli.remote.options import choosing, chosen_names, extract_options, is_remote
from dragoman.core.errors import DragomanError, UsageError, system_refused


def serve(arguments: list[str]) -> int:
    escape_unencodable_output()
    status = run(arguments)
    flush_output()
    return status


def run(arguments: list[str]) -> int:
    arguments = _resolve_alias(arguments)
    try:
        arguments, options = extract_options(arguments)
        with choosing(options):
            return _run(_resolve_alias(arguments))
    except DragomanError as error:
        return report_error(error, as_json=_wants_json(arguments))


def _run(arguments: list[str]) -> int:
    try:
        fast = _find_fast(arguments)
        status = fast() if fast else _dispatch(arguments)
        sys.stdout.flush()  # report write errors here; the interpreter would report them after our last message
        return status
    except DragomanError as error:
        return report_error(error, as_json=_wants_json(arguments))
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        discard_output()
        return ExitCode.OK
    except _NOT_UNDERSTOOD as error:
        if not is_remote():
            raise
        return report_error(_far_answer(error), as_json=_wants_json(arguments))
    except OSError as error:
        return _report_unwritable(system_refused(error), as_json=_wants_json(arguments))


def _far_answer(error: Exception) -> DragomanError:
    from dragoman.io.net.remote_errors import far_answer_not_understood

    return far_answer_not_understood(target=chosen_names()[0], reason=f"{type(error).__name__}: {error}")


def _resolve_alias(arguments: list[str]) -> list[str]:
    """Replace names of commands that other tools use, such as `start`."""
    match arguments:
        case [word, *rest] if word in _ALIASES:
            return [_ALIASES[word], *rest]
    return arguments


def _report_unwritable(error: DragomanError, *, as_json: bool) -> int:
    """Report the error. The output itself may be unwritable, which only writing shows."""
    if as_json and flush_output():
        status = report_error(error, as_json=True)
        if flush_output():
            return status
    return report_error(error)


def _wants_json(arguments: list[str]) -> bool:
    """Whether `--json` is among our own arguments; those after `--` belong to another program."""
    return "--json" in itertools.takewhile(lambda word: word != "--", arguments)


def _find_fast(arguments: list[str]) -> Callable[[], int] | None:
    if arguments in ([_VERSION], ["-V"]):
        return _version
    if arguments[:1] == ["help"]:
        return lambda: _help(arguments[1:])
    if sorted(arguments) in (["--all", "--help"], ["--all", "-h"]):
        return lambda: _help(["--all"])
    return find_fast(arguments)


def _help(words: list[str]) -> int:
    """Show the help of the named command. Unknown words are an error, because one of them may be a typo."""
    from dragoman.cli.commands import build_app
    from dragoman.cli.help import unknown_command

    if words == ["--all"]:
        return _dispatch(["--help"], lists_all=True)
    words = [] if words in (["help"], ["version"]) else _resolve_alias(words)
    commands, apps, rest = build_app().parse_commands(words)
    if rest:
        raise unknown_command(rest[0], commands, apps[-1])
    return _dispatch([*words, "--help"])


def _unexpected_arguments(words: list[str]) -> UsageError:
    from dragoman.cli.help import unexpected_arguments

    return unexpected_arguments(words)


def _version() -> int:
    show_text(f"dragoman {__version__}")
    return ExitCode.OK


def _dispatch(arguments: list[str], *, lists_all: bool = False) -> int:
    from cyclopts import CycloptsError

    from dragoman.cli.commands import build_app

    if arguments[:1] in ([_VERSION], ["-V"]):
        raise _unexpected_arguments(arguments[1:])
    try:
        result = build_app(lists_all=lists_all)(_preprocess(arguments), exit_on_error=False, print_error=False)
    except CycloptsError as error:
        from dragoman.cli.help import usage_error

        raise usage_error(error) from error
    except SystemExit as ending:
        if isinstance(ending.__context__, BrokenPipeError):  # raised by rich, which prints the help
            raise ending.__context__ from None
        raise
    return result if isinstance(result, int) else ExitCode.OK


def _preprocess(arguments: list[str]) -> list[str]:
    if arguments[:1] != ["debug"]:
        return arguments
    from dragoman.cli.debug.arguments import fold_conditions, fold_traces, move_command_first
    from dragoman.cli.debug.commands import app

    return fold_conditions(fold_traces(move_command_first(arguments, frozenset(app))))


# What a command meets in an answer that is not what its own version sends; another machine may send anything.
_NOT_UNDERSTOOD = (ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
_VERSION = "--version"
_ALIASES = {"version": _VERSION, "start": "up"}
