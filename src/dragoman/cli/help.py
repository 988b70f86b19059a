"""Help pages and usage errors, in the user's language instead of cyclopts' own."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, get_args, get_origin

from cyclopts import App, CoercionError, CycloptsError, MissingArgumentError, UnknownOptionError, UnusedCliTokensError
from cyclopts import ValidationError as OutOfRangeError
from cyclopts.exceptions import RepeatArgumentError, UnknownCommandError
from cyclopts.help import DefaultFormatter, HelpEntry, HelpPanel, InlineText
from cyclopts.validators import Number
from rich.console import Console, ConsoleOptions
from rich.text import Text

from dragoman.cli import completion
from dragoman.cli.installation.adapters import adapter_names
from dragoman.cli.output import render
from dragoman.cli.remote.options import MAY_STOP, REMOTE_COMMANDS
from dragoman.clients.catalog import BY_ID
from dragoman.core.errors import UsageError
from dragoman.core.localization import LocalizedText, join_sentences, localize, preferred_language
from dragoman.core.settings.loader import setting_choices as choices_of_setting

_LABEL = "Usage:"
_ALL_LISTED = localize("Run `dragoman help COMMAND` for details and examples.")
_COMMON_LISTED = localize("Run `dragoman help COMMAND` for one command, `dragoman help --all` for all.")
_TARGETS = localize("--on TARGET works on another machine: ssh:HOST, docker:NAME, podman:NAME, kubectl:POD.")
_WORKS_ELSEWHERE = localize("--on TARGET works on another machine; --env NAME passes your variable to programs there.")
_MAY_STOP = localize(
    "--allow-stop allows stopping programs that were already running there; otherwise they are only traced."
)
# Defaults that are not worth showing.
_UNSHOWN_DEFAULTS = frozenset({None, "", '""', "False", "None", "()"})


class HelpFormatter(DefaultFormatter):
    def __call__(self, console: Console, options: ConsoleOptions, panel: HelpPanel) -> None:
        super().__call__(console, options, panel.copy(entries=[_localized_entry(entry) for entry in panel.entries]))

    def render_usage(self, console: Console, options: ConsoleOptions, usage: Any) -> None:  # noqa: ARG002
        words = str(usage).strip().removeprefix(_LABEL).strip()
        console.print(Text(render(localize("Usage: {usage}", usage=words)) + "\n", "bold"))


def _localized_entry(entry: HelpEntry) -> HelpEntry:
    if isinstance(entry.description, InlineText):
        for note in _notes(entry):
            entry.description.append(Text(f"[{render(note)}]", "dim"))
    return entry.copy(default=None, choices=None, required=False)


def _notes(entry: HelpEntry) -> Iterator[LocalizedText]:
    if entry.choices:
        yield localize("possible values: {choices}", choices=", ".join(filter(None, entry.choices)))
    if entry.default not in _UNSHOWN_DEFAULTS:
        yield localize("default: {value}", value=entry.default)
    if entry.required:
        yield localize("required")


def print_ending(console: Console, words: str, *, lists_all: bool) -> None:
    """Print below the panels: two examples of a command, or where to find the other commands."""
    if words.partition(" ")[0] in REMOTE_COMMANDS:
        console.print(Text(f"\n{render(_WORKS_ELSEWHERE)}"))
    if words.partition(" ")[0] in MAY_STOP:
        console.print(Text(render(_MAY_STOP)))
    if words in EXAMPLES:
        console.print(Text(f"\n{render(localize('Examples:'))}", "bold"))
        # Do not wrap examples, so that they can be copied and run.
        console.print(Text("\n".join(f"  {line}" for line in EXAMPLES[words])), soft_wrap=True)
    elif not words:
        console.print(Text(f"\n{render(_TARGETS)}"))
        console.print(Text(f"\n{render(_ALL_LISTED if lists_all else _COMMON_LISTED)}"))


# Usage errors.


def usage_error(error: CycloptsError) -> UsageError:
    explain = next((explain for kind, explain in _EXPLANATIONS if isinstance(error, kind)), _cyclopts_message)
    return _usage(explain(error), error.command_chain or (), lists_commands=isinstance(error, UnknownCommandError))


def unknown_command(word: str, commands: Iterable[str], app: App) -> UsageError:
    """The error for an unknown command of this app."""
    return _usage(_no_command(word, app), commands, lists_commands=True)


def unexpected_arguments(words: Iterable[str]) -> UsageError:
    return _usage([localize("Unexpected arguments: {words}.", words=" ".join(words))], ())


def _usage(reasons: Iterable[LocalizedText], commands: Iterable[str], *, lists_commands: bool = False) -> UsageError:
    reason = join_sentences(reasons, preferred_language())
    command = " ".join(["dragoman", *commands])
    if lists_commands:
        hint = localize("Run `{command} --help` for a list.", command=command)
    else:
        hint = localize("See `{command} --help` for usage.", command=command)
    return UsageError("usage", localize("{text}", text=reason), hint=hint)


def _cyclopts_message(error: CycloptsError) -> Iterator[LocalizedText]:
    yield localize("{text}", text=str(error).strip().replace("\n", " "))


def _unknown_command(error: UnknownCommandError) -> Iterator[LocalizedText]:
    yield from _no_command((error.unused_tokens or ["?"])[0], error.app)


def _no_command(word: str, app: App | None) -> Iterator[LocalizedText]:
    yield localize("Unknown command `{word}`.", word=word)
    names = [name for name in app or () if not name.startswith("-")]
    yield from _did_you_mean(word, names)


def _unknown_option(error: UnknownOptionError) -> Iterator[LocalizedText]:
    word = error.token.keyword or error.token.value
    yield localize("Unknown option {word}.", word=word)
    yield from _did_you_mean(word, (name for it in error.argument_collection if it.parse for name in it.names))


def _did_you_mean(word: str, names: Iterable[str]) -> Iterator[LocalizedText]:
    for name in difflib.get_close_matches(word, list(names), n=1):
        yield localize("Did you mean `{name}`?", name=name)


def _unused(error: UnusedCliTokensError) -> Iterator[LocalizedText]:
    yield localize("Unexpected arguments: {words}.", words=" ".join(error.unused_tokens or ()))


def _missing(error: MissingArgumentError) -> Iterator[LocalizedText]:
    name, argument = _name(error, error.keyword), error.argument
    completer = argument.parameter.completer if argument else None
    choices = ", ".join(argument.get_choices(force=True) or _known_choices(error, completer)) if argument else ""
    match name.startswith("-"), bool(choices):
        case True, True:
            yield localize("Missing value for {name} (one of: {choices}).", name=name, choices=choices)
        case True, False:
            yield localize("Missing value for {name}.", name=name)
        case False, True:
            yield localize("Missing argument {name} (one of: {choices}).", name=name, choices=choices)
        case _:
            yield localize("Missing argument {name}.", name=name)
    if not choices and (command := _LIST_COMMANDS.get(completer)):
        yield localize("`{command}` lists them.", command=command)


def _known_choices(error: MissingArgumentError, completer: object) -> Iterable[str]:
    """Candidates that are known without a daemon; for a setting, its values."""
    if completer is completion.setting_values:
        return choices_of_setting((error.root_input_tokens or [""])[-1])
    if completer is completion.adapters:
        return adapter_names()
    return BY_ID if completer is completion.clients else ()


def _repeated(error: RepeatArgumentError) -> Iterator[LocalizedText]:
    yield localize("{name} is specified twice.", name=_name(error, error.token.keyword))


def _bad_value(error: CoercionError) -> Iterator[LocalizedText]:
    if error.token is None or error.msg is not None:
        yield from _cyclopts_message(error)
        return
    yield localize(
        "Invalid value {value} for {name}.",
        name=_name(error, error.token.keyword),
        value=ascii(error.token.value[:100]),
    )
    if get_origin(error.target_type) is Literal:
        yield localize("Possible values: {choices}.", choices=", ".join(map(str, get_args(error.target_type))))


def _out_of_range(error: OutOfRangeError) -> Iterator[LocalizedText]:
    validators = error.argument.parameter.validator if error.argument else ()
    bounds = [it for it in validators if isinstance(it, Number)] if isinstance(validators, tuple) else []
    if alone := _EXCLUSIVE.match(error.exception_message):
        yield localize("Use only one of: {options}.", options=alone["options"])
        return
    if error.argument is None or not bounds:
        yield from _cyclopts_message(error)
        return
    given = error.argument.tokens[0]
    yield localize(
        "Invalid value {value} for {name}.", name=_name(error, given.keyword), value=ascii(given.value[:100])
    )
    yield localize("Use a number from {least} to {most}.", least=bounds[0].gte, most=bounds[0].lte)


def _name(error: CycloptsError, keyword: str | None) -> str:
    """The name as the user writes it: an option with its dashes, an argument as the help shows it."""
    if keyword or error.argument is None:
        return keyword or "?"
    name = error.argument.name
    return name if name.startswith("-") and error.argument.field_info.is_keyword_only else name.lstrip("-").upper()


_EXCLUSIVE = re.compile(r"Mutually exclusive arguments: \{(?P<options>.*)\}")  # in cyclopts' own words
_LIST_COMMANDS: Mapping[object, str] = {
    completion.terminals: "dragoman terminals --ended",
    completion.debug_sessions: "dragoman debug sessions",
    completion.client_tokens: "dragoman token list",
}
_EXPLANATIONS: tuple[tuple[type[CycloptsError], Callable[[Any], Iterator[LocalizedText]]], ...] = (
    (UnknownCommandError, _unknown_command),
    (UnknownOptionError, _unknown_option),
    (UnusedCliTokensError, _unused),
    (MissingArgumentError, _missing),
    (RepeatArgumentError, _repeated),
    (CoercionError, _bad_value),
    (OutOfRangeError, _out_of_range),
)


EXAMPLES: dict[str, tuple[str, str]] = {
    "demo": ("dragoman demo", "DRAGOMAN_LANG=zh dragoman demo"),
    "setup": ("dragoman setup --undo", "dragoman setup --on ssh:build1"),
    "client-config": ("dragoman client-config cursor", "dragoman client-config claude-code --write --project"),
    "trust": ("dragoman trust ~/projects/shop", "dragoman trust --list"),
    "why": ("dragoman why tests/test_cart.py::test_total", "dragoman why -- pytest -q tests"),
    "debug": ("dragoman debug orders.py --break orders.py:21", "dragoman debug --module pytest --until-crash -- -x"),
    "debug next": ("dragoman debug next", "dragoman debug next --thread 2"),
    "debug step": ("dragoman debug step", "dragoman debug step --timeout 10"),
    "debug out": ("dragoman debug out", "dragoman debug out --json"),
    "debug continue": ("dragoman debug continue", "dragoman debug continue --until orders.py:30"),
    "debug pause": ("dragoman debug pause", "dragoman debug pause --session debug-5d2f6f3a1c0b9e87"),
    "debug wait": ("dragoman debug wait", "dragoman debug wait --timeout 120"),
    "debug restart": ("dragoman debug restart", "dragoman debug restart --timeout 10"),
    "debug stop": ("dragoman debug stop", "dragoman debug stop --session debug-5d2f6f3a1c0b9e87"),
    "debug eval": ("dragoman debug eval 'len(codes)'", "dragoman debug eval price --frame 1"),
    "debug vars": ("dragoman debug vars", "dragoman debug vars codes --count 10"),
    "debug set": ("dragoman debug set rate 0.5", "dragoman debug set name '\"Ada\"' --frame 1"),
    "debug stack": ("dragoman debug stack", "dragoman debug stack --json"),
    "debug threads": ("dragoman debug threads", "dragoman debug threads --json"),
    "debug output": ("dragoman debug output", "dragoman debug output --category stderr"),
    "debug sessions": ("dragoman debug sessions", "dragoman debug sessions --workspace ~/projects/shop"),
    "debug break": ("dragoman debug break orders.py:21", "dragoman debug break orders.py:21 --if 'price > 100'"),
    "debug breakpoints": ("dragoman debug breakpoints", "dragoman debug breakpoints --json"),
    "debug clear": ("dragoman debug clear orders.py:21", "dragoman debug clear --all"),
    "report": ("dragoman report", "dragoman report --output session.html"),
    "share": (
        "dragoman share debug-5d2f6f3a1c0b9e87 -o bug.dragoman",
        "dragoman share debug-5d2f6f3a1c0b9e87 -o bug.dragoman --yes",
    ),
    "open": ("dragoman open bug.dragoman", "dragoman open ~/Downloads/bug.dragoman --rerun"),
    "adapters": ("dragoman adapters", "dragoman adapters install javascript"),
    "adapters install": ("dragoman adapters install javascript", "dragoman adapters install go"),
    "lua": ("dragoman lua doctor", "dragoman lua install ~/projects/game"),
    "lua path": ("dragoman lua path", 'cp "$(dragoman lua path)" ~/projects/game/'),
    "lua install": ("dragoman lua install .", "dragoman lua install ~/projects/game --name dragoman.lua"),
    "lua doctor": ("dragoman lua doctor", "dragoman lua doctor ~/projects/game"),
    "page": ("dragoman page", "dragoman page --print"),
    "approvals": ("dragoman approvals", "dragoman approvals --json"),
    "stop": ("dragoman stop --all", "dragoman stop --all --on ssh:build1 --on local"),
    "journal": ("dragoman journal tail -f", "dragoman journal search 'debug stopped'"),
    "journal tail": ("dragoman journal tail -f", "dragoman journal tail --lines 100 --json"),
    "journal search": ("dragoman journal search orders.py", "dragoman journal search 'connect*' --limit 5"),
    "journal export": ("dragoman journal export > journal.jsonl", "dragoman journal export | grep orders.py"),
    "logs": ("dragoman logs -f", "dragoman logs --lines 200"),
    "shell": ("dragoman shell", "dragoman shell --install"),
    "history": ("dragoman history make --failed", "dragoman history --since 2h --cwd ."),
    "ask": ("dragoman ask 'what failed?'", "dragoman ask 'why did the last build fail?' --scope this"),
    "last": ("dragoman last --output", "dragoman last --failed"),
    "terminals": ("dragoman terminals", "dragoman terminals --ended"),
    "terminals watch": (
        "dragoman terminals watch 3f2a9c1e5b7d8046",
        "tmux split-window dragoman terminals watch 3f2a9c1e5b7d8046",
    ),
    "terminals export": (
        "dragoman terminals export 3f2a9c1e5b7d8046 --output build.cast",
        "dragoman terminals export 3f2a9c1e5b7d8046 --format jsonl",
    ),
    "terminals import": ("dragoman terminals import build.cast", "dragoman terminals import ~/omnish/session-1"),
    "replay": ("dragoman replay 3f2a9c1e5b7d8046", "dragoman replay 3f2a9c1e5b7d8046 --speed 4 --idle 0.5"),
    "up": ("dragoman up", "dragoman up --take-over --port 9000"),
    "down": ("dragoman down", "dragoman down --yes"),
    "status": ("dragoman status", "dragoman status --json"),
    "doctor": ("dragoman doctor", "dragoman doctor --json"),
    "config": ("dragoman config list", "dragoman config set port 9000"),
    "config get": ("dragoman config get port", "dragoman config get model"),
    "config set": ("dragoman config set port 9000", "dragoman config set redact true"),
    "config list": ("dragoman config list", "dragoman config list | grep journal"),
    "config path": ("dragoman config path", '$EDITOR "$(dragoman config path)"'),
    "restart": ("dragoman restart", "dragoman restart --yes"),
    "forget": ("dragoman forget --before 2026-01-01", "dragoman forget --all"),
    "uninstall": ("dragoman uninstall", "dragoman uninstall --yes"),
    "mcp": ("dragoman mcp", "dragoman mcp --workspace ~/projects/shop --tools debug"),
    "dap": ("dragoman dap --stdio", "dragoman dap --stdio --attach debug-5d2f6f3a1c0b9e87 --read-only"),
    "pipe": ("ssh build1 dragoman pipe", "docker exec -i web dragoman pipe"),
    "gateway": ("dragoman gateway connect", "dragoman gateway chat 'what is new?'"),
    "gateway connect": ("dragoman gateway connect", "dragoman gateway connect ws://127.0.0.1:18789"),
    "gateway disconnect": ("dragoman gateway disconnect", "dragoman gateway disconnect --json"),
    "gateway status": ("dragoman gateway status", "dragoman gateway status --json"),
    "gateway chat": ("dragoman gateway chat 'what is new?'", "dragoman gateway chat 'go on' --session main"),
    "gateway sessions": ("dragoman gateway sessions", "dragoman gateway sessions --json"),
    "gateway approve": ("dragoman gateway approve", "dragoman gateway approve 8d1f0c52"),
    "token": ("dragoman token create laptop", "dragoman token list"),
    "token create": ("dragoman token create laptop", "dragoman token create canvas --purpose gateway"),
    "token list": ("dragoman token list", "dragoman token list --json"),
    "token revoke": ("dragoman token revoke laptop", "dragoman token revoke canvas --purpose gateway"),
    "token show": ("dragoman token show mcp", "dragoman token show mcp laptop"),
    "token rotate": ("dragoman token rotate", "dragoman token rotate mcp"),
    "wire": (
        "echo 000000000000002a4f530000000409000000 | dragoman wire decode omnish",
        "dragoman wire encode dap < messages.jsonl",
    ),
    "wire decode": (
        "echo 000000000000002a4f530000000409000000 | dragoman wire decode omnish",
        "dragoman wire decode dap < capture.bin",
    ),
    "wire encode": (
        'echo \'{"request_id": "42", "message": "Ack"}\' | dragoman wire encode omnish',
        "dragoman wire encode dap < messages.jsonl",
    ),
    "stop-waiting": ("dragoman stop-waiting", "dragoman stop-waiting --session debug-5d2f6f3a1c0b9e87"),
    "completions": ("dragoman completions fish | source", 'eval "$(dragoman completions bash)"'),
}
