"""The agent without a model: every tool is a slash command, with short forms and completion."""

from __future__ import annotations

import difflib
import json
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import anyio.to_thread

from dragoman.chat.runs import AgentRequest, RunOutput
from dragoman.chat.slash_commands import (
    COMMAND_ALIASES,
    COMMAND_GROUPS,
    SLASH_COMMANDS,
    CommandUsageError,
    SlashCommand,
    parse_arguments,
)
from dragoman.chat.toolbox import ChatToolbox, ToolAnswer, ToolDescription, TrustPrompt, call_with_trust, tool_title
from dragoman.core.errors import DragomanError
from dragoman.core.ids import new_id
from dragoman.core.localization import Language, localize

ENTRIES_READ = 2_000
"""Names of one folder. In a larger folder, more must be typed."""
_COMPLETIONS_AT_MOST = 20
_DESCRIPTION_CHARACTERS = 120

_REFERENCE = re.compile(r"  \[\d+\]$", re.MULTILINE)
_STACK = re.compile(r"^stack: .*$", re.MULTILINE)
_FRAME = re.compile(r"(?<=^stack: )#\d+ |(?<= < )#\d+ ")
_TICKS = re.compile("`{3,}")


def fenced(text: str) -> str:
    """Text as a Markdown code block. Its fence is longer than any fence inside the text."""
    longest = max((len(found) for found in _TICKS.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{text}\n{fence}"


def without_references(text: str, data: Mapping[str, Any]) -> str:
    """Remove reference numbers, but only those that the answer's data names: program output is not touched."""
    references = set(_values_named(data, "variables_reference"))
    frames = set(_values_named(data, "frame_id"))
    text = _REFERENCE.sub(partial(_drop_known, references), text)
    text = _STACK.sub(lambda line: _FRAME.sub(partial(_drop_known, frames), line[0]), text)
    for session in set(_values_named(data, "session_id")):
        text = text.replace(f", {session})", ")", 1)
    return text


def _drop_known(numbers: set[int], found: re.Match[str]) -> str:
    return "" if int(found[0].strip(" #[]")) in numbers else found[0]


def _values_named(data: Any, name: str) -> Iterator[Any]:
    """All values of this name, at any depth."""
    if isinstance(data, Mapping):
        yield from (it for key, it in data.items() if key == name and it is not None)
        yield from (found for it in data.values() for found in _values_named(it, name))
    elif isinstance(data, list):
        yield from (found for it in data for found in _values_named(it, name))


def complete_paths(folder: str, begun: str, most: int) -> list[str]:
    """The paths in the folder or below it, in order.

    A folder ends with a slash. Hidden names are only offered when asked for. A name that cannot be displayed, or is not
    valid text, is left out, because it cannot be typed.
    """
    within, name = begun.rpartition("/")[::2]
    if not folder or begun.startswith("/") or ".." in PurePosixPath(begun).parts:
        return []
    names = [
        it for it in _entry_names(Path(folder, within)) if it.startswith(name) and (name or not it.startswith("."))
    ]
    return [f"{within}/{it}" if within else it for it in sorted(names)[:most]]


def _entry_names(folder: Path) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            for entry, _ in zip(entries, range(ENTRIES_READ), strict=False):
                if entry.name.isprintable():
                    yield f"{entry.name}/" if entry.is_dir() else entry.name
    except (OSError, ValueError):  # No name contains a zero byte.
        return


_HELP_FOOTER = localize("`/help COMMAND` explains one; `/help tools` lists every tool.")
_NO_MODEL_TEXT = localize(
    "No model is configured, but every tool is a command: /why explains the last failure, /start FILE debugs a "
    "file, /break FILE:LINE sets a breakpoint. /help lists all commands."
)


class CommandCompletion(NamedTuple):
    """A replacement for what was typed, and a short description of what it does."""

    text: str
    description: str


class CommandAgent:
    def __init__(self, toolbox: ChatToolbox, trust_prompt: TrustPrompt | None = None) -> None:
        self._toolbox = toolbox
        self._trust_prompt = trust_prompt

    async def answer(self, request: AgentRequest, run_output: RunOutput) -> None:
        text = request.text.strip()
        if not text.startswith("/"):
            run_output.say(_NO_MODEL_TEXT.in_language(request.language))
            return
        name, _, rest = text[1:].partition(" ")
        if name in ("help", "?", ""):
            run_output.say(self._help(rest.strip().lstrip("/"), request.language))
            return
        await self._run_command(name, rest.strip(), request, run_output)

    async def complete(self, text: str, language: Language, folder: str = "") -> list[CommandCompletion]:
        """Complete what was typed. File names come from this folder; without one there are none."""
        if not text.startswith("/"):
            return []
        name, space, rest = text[1:].partition(" ")
        command = self._command(name)
        if space and command is not None:
            return await _complete_files(command, text, rest, folder)
        if space:
            offer = self._offers().get(name)
            return self._parameters(text, offer) if offer else []
        return [it for it in self._commands(language) if it.text.startswith(text)][:_COMPLETIONS_AT_MOST]

    async def _run_command(self, name: str, rest: str, request: AgentRequest, run_output: RunOutput) -> None:
        """Run a command. The answer of a tool is shown verbatim, not as Markdown."""
        tool, arguments = self._parse_command(name, rest)

        async def call(tool: str, arguments: Mapping[str, Any]) -> ToolAnswer:
            return await self._call(tool, arguments, request, run_output)

        answer = await call(tool, arguments)
        command = self._command(name)
        if command is not None and command.follow is not None:
            answer = await command.follow(call, answer, rest)
        if answer.is_error:
            _raise_failure(answer, run_output)
        if answer.text:
            run_output.say(fenced(without_references(answer.text, answer.data)))

    async def _call(
        self, tool: str, arguments: Mapping[str, Any], request: AgentRequest, run_output: RunOutput
    ) -> ToolAnswer:
        title = tool_title(tool, arguments, request.language)
        id = run_output.begin_tool(new_id("call"), tool, title=title, input=arguments)
        call = partial(
            self._toolbox.call, tool, arguments, by=request.by, workspace=request.workspace, language=request.language
        )
        answer = await call_with_trust(call, request, self._trust_prompt)
        run_output.end_tool(id, answer.text, error=answer.text if answer.is_error else None)
        return answer

    def _parse_command(self, name: str, rest: str) -> tuple[str, Mapping[str, Any]]:
        command = self._command(name)
        if command is not None:
            return command.tool, parse_arguments(command, rest)
        offer = self._offers().get(name)
        if offer is None:
            raise self._unknown(name)
        return name, _arguments(offer, rest)

    def _command(self, name: str) -> SlashCommand | None:
        return self._available_commands().get(COMMAND_ALIASES.get(name, name))

    def _available_commands(self) -> Mapping[str, SlashCommand]:
        """The commands whose tools are available: a tool set may be disabled."""
        offers = self._offers()
        return {name: command for name, command in SLASH_COMMANDS.items() if command.tool in offers}

    def _offers(self) -> Mapping[str, ToolDescription]:
        return {offer.name: offer for offer in self._toolbox.offers()}

    def _names(self) -> Sequence[str]:
        return ["help", *self._available_commands(), *COMMAND_ALIASES, *self._offers()]

    def _commands(self, language: Language) -> Iterator[CommandCompletion]:
        yield CommandCompletion("/help", localize("Show help for the commands.").in_language(language))
        for name, command in self._available_commands().items():
            taken = command.usage.partition(" ")[2]
            yield CommandCompletion(f"/{name}", " · ".join(filter(None, [taken, command.about.in_language(language)])))
        for name, offer in self._offers().items():
            yield CommandCompletion(f"/{name}", _first_sentence(offer.description))

    def _parameters(self, text: str, offer: ToolDescription) -> list[CommandCompletion]:
        head, _, last = text.rpartition(" ")
        if "=" in last:
            return []
        properties = offer.schema.get("properties", {})
        return [
            CommandCompletion(f"{head} {name}=", _first_sentence(it.get("description", "")))
            for name, it in properties.items()
            if name.startswith(last)
        ]

    def _help(self, name: str, language: Language) -> str:
        command, offer = self._command(name), self._offers().get(name)
        if command is not None:
            return f"`{command.usage}` {command.about.in_language(language)}"
        if offer is not None:
            parameters = " ".join(f"[{it}=…]" for it in offer.schema.get("properties", {}))
            return f"`/{offer.name} {parameters}`\n\n{offer.description}"
        if name == "tools":
            return self._all_tools(language)
        if name:
            raise self._unknown(name)
        return "\n".join([*self._groups(language), "", _HELP_FOOTER.in_language(language)])

    def _groups(self, language: Language) -> Iterator[str]:
        """The groups, short enough for a narrow window. Optional parameters are marked."""
        forms = self._available_commands()
        for title, names in COMMAND_GROUPS:
            usages = [f"`{forms[it].usage.partition(' [')[0]}`" for it in names if it in forms]
            if usages:
                yield f"- **{title.in_language(language)}** {', '.join(usages)}"

    def _all_tools(self, language: Language) -> str:
        names = ", ".join(f"`/{name}`" for name in self._offers())
        return localize("Every tool is also a command, with name=value arguments: {names}.", names=names).in_language(
            language
        )

    def _unknown(self, name: str) -> DragomanError:
        near = difflib.get_close_matches(name, self._names(), n=3)
        hint = (
            localize("Did you mean {names}?", names=", ".join(f"/{it}" for it in near))
            if near
            else localize("/help lists the commands.")
        )
        return DragomanError("unknown_command", localize("Unknown command /{name}.", name=name[:60]), hint=hint)


async def _complete_files(command: SlashCommand, text: str, begun: str, folder: str) -> list[CommandCompletion]:
    if "FILE" not in command.usage:
        return []
    then = ":" if "FILE:LINE" in command.usage else ""
    found = await anyio.to_thread.run_sync(complete_paths, folder, begun, _COMPLETIONS_AT_MOST)
    return [CommandCompletion(f"{text.removesuffix(begun)}{it}{'' if it.endswith('/') else then}", "") for it in found]


def _raise_failure(answer: ToolAnswer, run_output: RunOutput) -> None:
    """Raise the failure in its own words; the output of the debugger or the program comes before it, verbatim."""
    code, message, hint = (answer.data.get(name) for name in ("code", "message", "hint"))
    if not message:
        return
    details = answer.text.partition("\n")[2]
    if details:
        run_output.say(fenced(details))
    raise DragomanError(
        str(code), localize("{text}", text=message), hint=localize("{text}", text=hint) if hint else None
    )


def _first_sentence(text: str) -> str:
    """Its first sentence, on one line."""
    first = " ".join(text.split()).partition(". ")[0]
    return first if len(first) <= _DESCRIPTION_CHARACTERS else f"{first[: _DESCRIPTION_CHARACTERS - 1]}…"


def _arguments(offer: ToolDescription, rest: str) -> dict[str, Any]:
    """Parse `name=value` words, where a value may be JSON; or one JSON object.

    A single bare word goes to the only required parameter.
    """
    if rest.lstrip().startswith("{"):
        return _json_arguments(offer, rest)
    properties = offer.schema.get("properties", {})
    found: dict[str, Any] = {}
    for word in _split_arguments(offer, rest):
        name, equals, value = word.partition("=")
        if equals and name in properties:
            found[name] = _value(value, properties[name])
        else:
            found[_bare_argument(offer, found)] = word
    return found


def _json_arguments(offer: ToolDescription, rest: str) -> dict[str, Any]:
    try:
        found = json.loads(rest)
    except ValueError:
        raise CommandUsageError(f"/{offer.name} {{…}}") from None
    return dict(found)


def _split_arguments(offer: ToolDescription, rest: str) -> list[str]:
    try:
        return shlex.split(rest)
    except ValueError:
        raise CommandUsageError(f"/{offer.name} name=value") from None


def _bare_argument(offer: ToolDescription, found: Mapping[str, Any]) -> str:
    needed = [name for name in offer.schema.get("required", ()) if name not in found]
    if len(needed) != 1:
        names = " ".join(f"{it}=…" for it in offer.schema.get("properties", {}))
        raise CommandUsageError(f"/{offer.name} {names}")
    return str(needed[0])


def _value(text: str, schema: Mapping[str, Any]) -> Any:
    if schema.get("type") == "string":
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text
