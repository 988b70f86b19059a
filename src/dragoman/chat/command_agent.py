"""The agent without a model: every tool is a slash command, with short forms and completion. Useful by itself."""

from __future__ import annotations

import difflib
import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import anyio.to_thread

from dragoman.chat.files import files_like
from dragoman.chat.runs import Question
from dragoman.chat.short_forms import ALSO, GROUPS, SHORT_FORMS, NotUnderstoodError, ShortForm, parsed
from dragoman.chat.shown import fenced, for_people
from dragoman.chat.tool_titles import title_of
from dragoman.chat.toolbox import Offer, ToolAnswer, Toolbox
from dragoman.chat.trust import Trusting, call_with_trust
from dragoman.chat.voice import Voice
from dragoman.errors import DragomanError
from dragoman.ids import new_id
from dragoman.phrases import Language, say

_COMPLETIONS_AT_MOST = 20
_DESCRIBED = 120
_MORE = say("`/help COMMAND` explains one. Every tool is a command too: `/help tools` lists them.")
_WHAT_IT_CAN_DO = say(
    "There is no model here to talk to, but every tool is a command: /why explains the last failure, "
    "/start FILE debugs it, /break FILE:LINE stops there. /help lists them."
)


class Completion(NamedTuple):
    """What may stand instead of what was typed, and in a few words what that does."""

    text: str
    description: str


class CommandAgent:
    def __init__(self, toolbox: Toolbox, trusting: Trusting | None = None) -> None:
        self._toolbox = toolbox
        self._trusting = trusting

    async def answer(self, asked: Question, voice: Voice) -> None:
        text = asked.text.strip()
        if not text.startswith("/"):
            voice.say(_WHAT_IT_CAN_DO.in_language(asked.language))
            return
        name, _, rest = text[1:].partition(" ")
        if name in ("help", "?", ""):
            voice.say(self._help(rest.strip().lstrip("/"), asked.language))
            return
        await self._done(name, rest.strip(), asked, voice)

    async def complete(self, text: str, language: Language, folder: str = "") -> list[Completion]:
        """Names of files are of this folder; without one there are none."""
        if not text.startswith("/"):
            return []
        name, space, rest = text[1:].partition(" ")
        form = self._form(name)
        if space and form is not None:
            return await _files(form, text, rest, folder)
        if space:
            offer = self._offers().get(name)
            return self._parameters(text, offer) if offer else []
        return [it for it in self._commands(language) if it.text.startswith(text)][:_COMPLETIONS_AT_MOST]

    async def _done(self, name: str, rest: str, asked: Question, voice: Voice) -> None:
        """What a tool answers is not Markdown, whatever stands in it."""
        tool, arguments = self._understood(name, rest)

        async def call(tool: str, arguments: Mapping[str, Any]) -> ToolAnswer:
            return await self._call(tool, arguments, asked, voice)

        answer = await call(tool, arguments)
        form = self._form(name)
        if form is not None and form.follow is not None:
            answer = await form.follow(call, answer, rest)
        if answer.is_error:
            _fail(answer, voice)
        if answer.text:
            voice.say(fenced(for_people(answer.text, answer.data)))

    async def _call(self, tool: str, arguments: Mapping[str, Any], asked: Question, voice: Voice) -> ToolAnswer:
        title = title_of(tool, arguments, asked.language)
        id = voice.begin_tool(new_id("call"), tool, title=title, input=arguments)
        call = partial(
            self._toolbox.call, tool, arguments, by=asked.by, workspace=asked.workspace, language=asked.language
        )
        answer = await call_with_trust(call, asked, self._trusting)
        voice.end_tool(id, answer.text, error=answer.text if answer.is_error else None)
        return answer

    def _understood(self, name: str, rest: str) -> tuple[str, Mapping[str, Any]]:
        form = self._form(name)
        if form is not None:
            return form.tool, parsed(form, rest)
        offer = self._offers().get(name)
        if offer is None:
            raise self._unknown(name)
        return name, _arguments(offer, rest)

    def _form(self, name: str) -> ShortForm | None:
        return self._forms().get(ALSO.get(name, name))

    def _forms(self) -> Mapping[str, ShortForm]:
        """Of the tools that are there: a set may be left out."""
        offers = self._offers()
        return {name: form for name, form in SHORT_FORMS.items() if form.tool in offers}

    def _offers(self) -> Mapping[str, Offer]:
        return {offer.name: offer for offer in self._toolbox.offers()}

    def _names(self) -> Sequence[str]:
        return ["help", *self._forms(), *ALSO, *self._offers()]

    def _commands(self, language: Language) -> Iterator[Completion]:
        yield Completion("/help", say("What the commands do.").in_language(language))
        for name, form in self._forms().items():
            taken = form.usage.partition(" ")[2]
            yield Completion(f"/{name}", " · ".join(filter(None, [taken, form.about.in_language(language)])))
        for name, offer in self._offers().items():
            yield Completion(f"/{name}", _brief(offer.description))

    def _parameters(self, text: str, offer: Offer) -> list[Completion]:
        head, _, last = text.rpartition(" ")
        if "=" in last:
            return []
        properties = offer.schema.get("properties", {})
        return [
            Completion(f"{head} {name}=", _brief(it.get("description", "")))
            for name, it in properties.items()
            if name.startswith(last)
        ]

    def _help(self, name: str, language: Language) -> str:
        form, offer = self._form(name), self._offers().get(name)
        if form is not None:
            return f"`{form.usage}` {form.about.in_language(language)}"
        if offer is not None:
            parameters = " ".join(f"[{it}=…]" for it in offer.schema.get("properties", {}))
            return f"`/{offer.name} {parameters}`\n\n{offer.description}"
        if name == "tools":
            return self._all_tools(language)
        if name:
            raise self._unknown(name)
        return "\n".join([*self._groups(language), "", _MORE.in_language(language)])

    def _groups(self, language: Language) -> Iterator[str]:
        """As much as a narrow window shows at once; what may be left out is told of each."""
        forms = self._forms()
        for title, names in GROUPS:
            usages = [f"`{forms[it].usage.partition(' [')[0]}`" for it in names if it in forms]
            if usages:
                yield f"- **{title.in_language(language)}** {', '.join(usages)}"

    def _all_tools(self, language: Language) -> str:
        names = ", ".join(f"`/{name}`" for name in self._offers())
        return say("Every tool is a command too, with name=value: {names}.", names=names).in_language(language)

    def _unknown(self, name: str) -> DragomanError:
        near = difflib.get_close_matches(name, self._names(), n=3)
        hint = (
            say("Did you mean {names}?", names=", ".join(f"/{it}" for it in near))
            if near
            else say("/help lists the commands.")
        )
        return DragomanError("unknown_command", say("There is no command /{name}.", name=name[:60]), hint=hint)


async def _files(form: ShortForm, text: str, begun: str, folder: str) -> list[Completion]:
    if "FILE" not in form.usage:
        return []
    then = ":" if "FILE:LINE" in form.usage else ""
    found = await anyio.to_thread.run_sync(files_like, folder, begun, _COMPLETIONS_AT_MOST)
    return [Completion(f"{text.removesuffix(begun)}{it}{'' if it.endswith('/') else then}", "") for it in found]


def _fail(answer: ToolAnswer, voice: Voice) -> None:
    """A run that failed says why in its own words; what a debugger or a program said of it stands before, as it is."""
    code, message, hint = (answer.data.get(name) for name in ("code", "message", "hint"))
    if not message:
        return
    details = answer.text.partition("\n")[2]
    if details:
        voice.say(fenced(details))
    raise DragomanError(str(code), say("{text}", text=message), hint=say("{text}", text=hint) if hint else None)


def _brief(text: str) -> str:
    """Its first sentence, on one line."""
    first = " ".join(text.split()).partition(". ")[0]
    return first if len(first) <= _DESCRIBED else f"{first[: _DESCRIBED - 1]}…"


def _arguments(offer: Offer, rest: str) -> dict[str, Any]:
    """`name=value` words, where a value may be JSON; or one JSON object. One bare word goes to the only one needed."""
    if rest.lstrip().startswith("{"):
        return _object(offer, rest)
    properties = offer.schema.get("properties", {})
    found: dict[str, Any] = {}
    for word in _words(offer, rest):
        name, equals, value = word.partition("=")
        if equals and name in properties:
            found[name] = _value(value, properties[name])
        else:
            found[_bare(offer, found)] = word
    return found


def _object(offer: Offer, rest: str) -> dict[str, Any]:
    try:
        found = json.loads(rest)
    except ValueError:
        raise NotUnderstoodError(f"/{offer.name} {{…}}") from None
    return dict(found)


def _words(offer: Offer, rest: str) -> list[str]:
    try:
        return shlex.split(rest)
    except ValueError:
        raise NotUnderstoodError(f"/{offer.name} name=value") from None


def _bare(offer: Offer, found: Mapping[str, Any]) -> str:
    needed = [name for name in offer.schema.get("required", ()) if name not in found]
    if len(needed) != 1:
        names = " ".join(f"{it}=…" for it in offer.schema.get("properties", {}))
        raise NotUnderstoodError(f"/{offer.name} {names}")
    return str(needed[0])


def _value(text: str, schema: Mapping[str, Any]) -> Any:
    if schema.get("type") == "string":
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text
