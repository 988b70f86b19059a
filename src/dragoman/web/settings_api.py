"""The settings as the page shows and changes them, the gateway we are a client of, and what MCP clients are given."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import Response

from dragoman.errors import DragomanError
from dragoman.events import Event
from dragoman.phrases import Language, Phrase, say
from dragoman.places import Places
from dragoman.setting_table import Settings
from dragoman.settings import Explained, Setting, explain, find_setting, unknown_variables
from dragoman.transport.http_stream import is_loopback
from dragoman.transport.settings_file import write_setting
from dragoman.web.bodies import Body, as_json, read_as
from dragoman.web.errors import language_of

# A setting that names a program to run, opens the machine to others, or shows agents more than before is a matter of
# the command line: whoever holds a page's session holds a browser, not the account. So is which variable or file of the
# daemon's holds a secret, or a page could have any of them sent. One that is new is not here.
CHANGED_BY_PAGES = frozenset({
    "port", "auto_start", "mcp_starts_daemon", "log_level", "session_linger_s",
    "journal_max_age_days", "journal_max_size_mb", "terminal_max_age_days",
    "suggest_commands", "explain_failures", "explain_failures_every_s",
    "model", "model_name", "model_address", "model_completes",
    "gateway_address", "gateway_unlimited", "gateway_relay",
})  # fmt: skip
# Keys and tokens that were chosen at the command line go along to these.
_ADDRESSES: Mapping[str, Phrase] = {
    "model_address": say("From a page: an address of this machine, or none for the provider's own."),
    "gateway_address": say("From a page: an address of this machine."),
}
_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]+@|(?<=\?)\S+")


class Gateway(Protocol):
    """The OpenClaw gateway of the settings, and how it stands."""

    async def connect(self, url: str) -> object: ...

    def disconnect(self) -> None: ...


class Journal(Protocol):
    async def append(self, events: list[Event], /) -> int: ...


class _Change(Body):
    key: str
    value: str


class _Nothing(Body):
    pass


@dataclass(frozen=True, slots=True)
class SettingsApi:
    places: Places
    running: Settings
    status: Callable[[], dict[str, Any]]
    journal: Journal
    gateway: Gateway
    standing: Callable[[Language], Mapping[str, Any]]

    async def show(self, request: Request) -> Response:
        language = language_of(request)
        known = await anyio.to_thread.run_sync(explain, self.places)
        return as_json(
            {
                "server": self.status(),
                "file": str(self.places.settings_file),
                "settings": [self._row(entry, language) for entry in known.values()],
                "warnings": [it.in_language(language) for it in unknown_variables()],
                "gateway": self.standing(language),
            }
        )

    async def change(self, request: Request) -> Response:
        """One at a time, by the same rules as `dragoman config set`; answers with how it stands then."""
        wanted = await read_as(request, _Change)
        setting = find_setting(wanted.key)
        if wanted.key not in CHANGED_BY_PAGES:
            raise _not_for_pages(setting, say("{key} is not changed from a page.", key=setting.key))
        if wanted.key in _ADDRESSES and not _stays_here(wanted.value):
            raise _not_for_pages(setting, _ADDRESSES[wanted.key])
        await anyio.to_thread.run_sync(write_setting, self.places.settings_file, wanted.key, wanted.value)
        text = f"{setting.key} was set at the page"
        await self.journal.append(
            [Event(kind="daemon.setting_changed", text=text, body={"key": setting.key, "by": "page"})]
        )
        known = await anyio.to_thread.run_sync(explain, self.places)
        return as_json(self._row(known[setting.key], language_of(request)))

    async def clients(self, request: Request) -> Response:
        """Without the token: a page shows no secret, and what is copied from it may end up anywhere."""
        language = language_of(request)
        rows = await anyio.to_thread.run_sync(_described, f"{self.status()['address']}/mcp")
        notes = [row["note"].in_language(language) if row["note"] else "" for row in rows]
        return as_json({"clients": [{**row, "note": note} for row, note in zip(rows, notes, strict=True)]})

    async def show_gateway(self, request: Request) -> Response:
        return as_json(self.standing(language_of(request)))

    async def connect(self, request: Request) -> Response:
        """To the gateway of the settings: a page names no other."""
        await read_as(request, _Nothing)
        await self.gateway.connect("")
        return as_json(self.standing(language_of(request)))

    async def disconnect(self, request: Request) -> Response:
        await read_as(request, _Nothing)
        self.gateway.disconnect()
        return as_json(self.standing(language_of(request)))

    def _row(self, entry: Explained, language: Language) -> dict[str, Any]:
        setting, source = entry.setting, entry.source
        return {
            "key": setting.key,
            "kind": setting.kind,
            "choices": _choices().get(setting.key, []),
            "value": _shown(setting, entry.value),
            "default": _shown(setting, setting.default),
            "source": source.kind,
            "where": source.phrase().in_language(language),
            "variable": setting.variable if os.environ.get(setting.variable) else "",
            "needs_restart": setting.needs_restart,
            "waits_for_restart": setting.needs_restart and entry.value != _dumped(self.running, setting.key),
            "about": setting.about.in_language(language),
            "allowed": setting.allowed.in_language(language),
            "may_change": setting.key in CHANGED_BY_PAGES,
            "from_page": _ADDRESSES[setting.key].in_language(language) if setting.key in _ADDRESSES else "",
        }


def _not_for_pages(setting: Setting, why: Phrase) -> DragomanError:
    hint = say("Run `dragoman config set {key} …` in a terminal.", key=setting.key)
    return DragomanError("not_for_pages", why, hint=hint)


def _stays_here(address: str) -> bool:
    """Without what parsers disagree about: whoever connects later must see the same host as we do."""
    return not address or (is_loopback(address) and not set("@\\") & set(address))


@functools.cache
def _choices() -> dict[str, list[str]]:
    properties = Settings.model_json_schema()["properties"]
    return {key: schema["enum"] for key, schema in properties.items() if "enum" in schema}


def _dumped(settings: Settings, key: str) -> object:
    return settings.model_dump(include={key})[key]


def _shown(setting: Setting, value: object) -> object:
    """No credentials of an address, and nothing of what adapters are started with."""
    if setting.kind == "object":
        return ""
    return _CREDENTIALS.sub("…", value) if isinstance(value, str) else value


def _described(url: str) -> list[dict[str, Any]]:
    from dragoman.clients.command import find_command  # noqa: PLC0415  few ever look
    from dragoman.clients.entries import TOKEN_PLACEHOLDER, HttpEndpoint  # noqa: PLC0415
    from dragoman.clients.listing import describe_all  # noqa: PLC0415
    from dragoman.clients.machine import this_machine  # noqa: PLC0415

    machine = this_machine()
    return describe_all(machine, find_command(machine), HttpEndpoint(url, TOKEN_PLACEHOLDER))
