"""What the parser of the command line says, in our words: its help, and what it did not understand."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, get_args, get_origin

from cyclopts import App, CoercionError, CycloptsError, MissingArgumentError, UnknownOptionError, UnusedCliTokensError
from cyclopts import ValidationError as OutOfRangeError
from cyclopts.exceptions import RepeatArgumentError, UnknownCommandError
from cyclopts.help import DefaultFormatter, HelpEntry, HelpPanel, InlineText
from cyclopts.validators import Number
from rich.console import Console, ConsoleOptions
from rich.text import Text

from dragoman.cli import completers
from dragoman.cli.adapters import names as adapter_names
from dragoman.cli.output import shown
from dragoman.clients.table import BY_ID
from dragoman.errors import UsageError
from dragoman.phrases import Phrase, preferred_language, say, sentences
from dragoman.settings import choices as choices_of_setting

_LABEL = "Usage:"
# Defaults that say nothing: off, none, nothing.
_SILENT = frozenset({None, "", '""', "False", "None", "()"})


class Help(DefaultFormatter):
    def __call__(self, console: Console, options: ConsoleOptions, panel: HelpPanel) -> None:
        super().__call__(console, options, panel.copy(entries=[_in_our_words(entry) for entry in panel.entries]))

    def render_usage(self, console: Console, options: ConsoleOptions, usage: Any) -> None:  # noqa: ARG002
        words = str(usage).strip().removeprefix(_LABEL).strip()
        console.print(Text(f"{shown(say('Usage:'))} {words}\n", "bold"))


def _in_our_words(entry: HelpEntry) -> HelpEntry:
    if isinstance(entry.description, InlineText):
        for note in _notes(entry):
            entry.description.append(Text(f"[{shown(note)}]", "dim"))
    return entry.copy(default=None, choices=None, required=False)


def _notes(entry: HelpEntry) -> Iterator[Phrase]:
    if entry.choices:
        yield say("one of: {choices}", choices=", ".join(entry.choices))
    if entry.default not in _SILENT:
        yield say("default: {value}", value=entry.default)
    if entry.required:
        yield say("needed")


# What was not understood.


def not_understood(error: CycloptsError) -> UsageError:
    tell = next((tell for kind, tell in _TELLS if isinstance(error, kind)), _as_it_says)
    return _usage(tell(error), error.command_chain or ())


def unknown_command(word: str, apps: Sequence[App]) -> UsageError:
    """By the apps that the words before it led to, from the first to the last."""
    return _usage(_no_command(word, apps[-1]), [it.name[0] for it in apps[1:]])


def too_much(words: Iterable[str]) -> UsageError:
    return _usage([say("This is too much: {words}.", words=" ".join(words))], ())


def _usage(reasons: Iterable[Phrase], commands: Iterable[str]) -> UsageError:
    reason = sentences(reasons, preferred_language())
    command = " ".join(["dragoman", *commands])
    hint = say("See `{command} --help` for what there is.", command=command)
    return UsageError("usage", say("{text}", text=reason), hint=hint)


def _as_it_says(error: CycloptsError) -> Iterator[Phrase]:
    yield say("{text}", text=str(error).strip().replace("\n", " "))


def _command(error: UnknownCommandError) -> Iterator[Phrase]:
    yield from _no_command((error.unused_tokens or ["?"])[0], error.app)


def _no_command(word: str, app: App | None) -> Iterator[Phrase]:
    yield say("There is no command `{word}`.", word=word)
    names = [name for name in app or () if not name.startswith("-")]
    yield from _meant(word, names)


def _option(error: UnknownOptionError) -> Iterator[Phrase]:
    word = error.token.keyword or error.token.value
    yield say("There is no option {word} here.", word=word)
    yield from _meant(word, (name for it in error.argument_collection if it.parse for name in it.names))


def _meant(word: str, names: Iterable[str]) -> Iterator[Phrase]:
    for name in difflib.get_close_matches(word, list(names), n=1):
        yield say("Did you mean `{name}`?", name=name)


def _unused(error: UnusedCliTokensError) -> Iterator[Phrase]:
    yield say("This is too much: {words}.", words=" ".join(error.unused_tokens or ()))


def _missing(error: MissingArgumentError) -> Iterator[Phrase]:
    yield say("{name} needs a value.", name=_name(error, error.keyword))
    if error.argument is None:
        return
    completer = error.argument.parameter.completer
    if choices := error.argument.get_choices(force=True) or _known(error, completer):
        yield say("It is one of: {choices}.", choices=", ".join(choices))
    elif command := _LISTS.get(completer):
        yield say("`{command}` lists what there is.", command=command)


def _known(error: MissingArgumentError, completer: object) -> Iterable[str]:
    """Names that are known without a daemon; of a setting, its values."""
    if completer is completers.setting_values:
        return choices_of_setting((error.root_input_tokens or [""])[-1])
    if completer is completers.adapters:
        return adapter_names()
    return BY_ID if completer is completers.clients else ()


def _repeated(error: RepeatArgumentError) -> Iterator[Phrase]:
    yield say("{name} was given twice.", name=_name(error, error.token.keyword))


def _bad_value(error: CoercionError) -> Iterator[Phrase]:
    if error.token is None or error.msg is not None:
        yield from _as_it_says(error)
        return
    yield say("{name} cannot be {value}.", name=_name(error, error.token.keyword), value=ascii(error.token.value[:100]))
    if get_origin(error.target_type) is Literal:
        yield say("It is one of: {choices}.", choices=", ".join(map(str, get_args(error.target_type))))


def _out_of_range(error: OutOfRangeError) -> Iterator[Phrase]:
    validators = error.argument.parameter.validator if error.argument else ()
    bounds = [it for it in validators if isinstance(it, Number)] if isinstance(validators, tuple) else []
    if alone := _EXCLUSIVE.match(error.exception_message):
        yield say("Only one of these can be given: {options}.", options=alone["options"])
        return
    if error.argument is None or not bounds:
        yield from _as_it_says(error)
        return
    given = error.argument.tokens[0]
    yield say("{name} cannot be {value}.", name=_name(error, given.keyword), value=ascii(given.value[:100]))
    yield say("It is a number from {least} to {most}.", least=bounds[0].gte, most=bounds[0].lte)


def _name(error: CycloptsError, keyword: str | None) -> str:
    """As it is written: an option with its dashes, an argument as the help shows it."""
    if keyword or error.argument is None:
        return keyword or "?"
    name = error.argument.name
    return name if name.startswith("-") and error.argument.field_info.is_keyword_only else name.lstrip("-").upper()


_EXCLUSIVE = re.compile(r"Mutually exclusive arguments: \{(?P<options>.*)\}")  # in cyclopts' words
_LISTS: Mapping[object, str] = {
    completers.terminals: "dragoman terminals --ended",
    completers.debug_sessions: "dragoman debug sessions",
    completers.client_tokens: "dragoman token list",
}
_TELLS: tuple[tuple[type[CycloptsError], Callable[[Any], Iterator[Phrase]]], ...] = (
    (UnknownCommandError, _command),
    (UnknownOptionError, _option),
    (UnusedCliTokensError, _unused),
    (MissingArgumentError, _missing),
    (RepeatArgumentError, _repeated),
    (CoercionError, _bad_value),
    (OutOfRangeError, _out_of_range),
)
