"""Settings, the gateway connection, and the preferences of the page.

The page's origin changes with each start of the daemon, so a browser cannot keep preferences.
"""

from __future__ import annotations

import functools
import logging
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol

import anyio
import anyio.to_thread
import msgspec
from starlette.requests import Request
from starlette.responses import Response

from dragoman.core.errors import DragomanError
from dragoman.core.events import Event
from dragoman.core.localization import Language, LocalizedText, localize
from dragoman.core.paths import Paths
from dragoman.core.settings.loader import ResolvedSetting, Setting, explain_settings, find_setting, unknown_variables
from dragoman.core.settings.schema import Settings
from dragoman.io.files.private_files import read_private, replace_private
from dragoman.io.files.settings_file import write_setting
from dragoman.io.net.http_client import is_loopback
from dragoman.servers.web.bodies import RequestBody, json_response, read_request
from dragoman.servers.web.errors import request_language

log = logging.getLogger(__name__)
WATCHES_AT_MOST = 200
PANES_AT_MOST = 50
CONSOLES_AT_MOST = 20
EVALUATED_AT_MOST = 100

# A setting that names a program to run, opens the machine to others, or shows agents more than before can only be
# changed at the command line: a page's session proves a browser, not the account. The same holds for the variable or
# file that contains a secret, or a page could have any of them sent. A new setting is not in this list by default.
CHANGED_BY_PAGES = frozenset({
    "port", "auto_start", "mcp_starts_daemon", "log_level", "session_linger_s",
    "journal_max_age_days", "journal_max_size_mb", "terminal_max_age_days",
    "suggest_commands", "explain_failures", "explain_failures_every_s",
    "model", "model_name", "model_address", "model_completes",
    "gateway_address", "gateway_unlimited", "gateway_relay",
})  # fmt: skip
# Keys and tokens that were chosen at the command line are sent to these addresses.
_ADDRESSES: Mapping[str, LocalizedText] = {
    "model_address": localize("On the page, use an address of this machine, or none for the provider's default."),
    "gateway_address": localize("On the page, use an address of this machine."),
}
_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]+@|(?<=\?)\S+")


class GatewayControl(Protocol):
    """The connection to the OpenClaw gateway of the settings."""

    async def connect(self, url: str) -> object: ...

    def disconnect(self) -> None: ...


class SettingsJournal(Protocol):
    async def append(self, events: list[Event], /) -> int: ...


class _SettingChange(RequestBody):
    key: str
    value: str


class _EmptyBody(RequestBody):
    pass


@dataclass(frozen=True, slots=True)
class SettingsApi:
    paths: Paths
    running: Settings
    status: Callable[[], dict[str, Any]]
    journal: SettingsJournal
    gateway: GatewayControl
    gateway_status: Callable[[Language], Mapping[str, Any]]

    async def show(self, request: Request) -> Response:
        language = request_language(request)
        known = await anyio.to_thread.run_sync(explain_settings, self.paths)
        return json_response(
            {
                "server": self.status(),
                "file": str(self.paths.settings_file),
                "settings": [self._row(entry, language) for entry in known.values()],
                "warnings": [it.in_language(language) for it in unknown_variables()],
                "gateway": self.gateway_status(language),
            }
        )

    async def change(self, request: Request) -> Response:
        """Change settings, one request at a time, by the rules of `dragoman config set`. Returns the result."""
        wanted = await read_request(request, _SettingChange)
        setting = find_setting(wanted.key)
        if wanted.key not in CHANGED_BY_PAGES:
            raise _not_for_pages(setting, localize("{key} cannot be changed on the page.", key=setting.key))
        if wanted.key in _ADDRESSES and not _is_local_address(wanted.value):
            raise _not_for_pages(setting, _ADDRESSES[wanted.key])
        await anyio.to_thread.run_sync(write_setting, self.paths.settings_file, wanted.key, wanted.value)
        text = f"{setting.key} changed on the page"
        await self.journal.append(
            [Event(kind="daemon.setting_changed", text=text, body={"key": setting.key, "by": "page"})]
        )
        known = await anyio.to_thread.run_sync(explain_settings, self.paths)
        return json_response(self._row(known[setting.key], request_language(request)))

    async def show_gateway(self, request: Request) -> Response:
        return json_response(self.gateway_status(request_language(request)))

    async def connect(self, request: Request) -> Response:
        """Connect to the gateway of the settings. A page cannot name another."""
        await read_request(request, _EmptyBody)
        await self.gateway.connect("")
        return json_response(self.gateway_status(request_language(request)))

    async def disconnect(self, request: Request) -> Response:
        await read_request(request, _EmptyBody)
        self.gateway.disconnect()
        return json_response(self.gateway_status(request_language(request)))

    def _row(self, entry: ResolvedSetting, language: Language) -> dict[str, Any]:
        setting, source = entry.setting, entry.source
        return {
            "key": setting.key,
            "kind": setting.kind,
            "choices": _choices().get(setting.key, []),
            "value": _without_credentials(setting, entry.value),
            "default": _without_credentials(setting, setting.default),
            "source": source.kind,
            "where": source.localized().in_language(language),
            "variable": setting.variable if os.environ.get(setting.variable) else "",
            "needs_restart": setting.needs_restart,
            "waits_for_restart": setting.needs_restart and entry.value != _setting_value(self.running, setting.key),
            "about": setting.about.in_language(language),
            "allowed": setting.allowed.in_language(language),
            "may_change": setting.key in CHANGED_BY_PAGES,
            "from_page": _ADDRESSES[setting.key].in_language(language) if setting.key in _ADDRESSES else "",
        }


def _not_for_pages(setting: Setting, why: LocalizedText) -> DragomanError:
    hint = localize("Run `dragoman config set {key} …` in a terminal.", key=setting.key)
    return DragomanError("not_for_pages", why, hint=hint)


def _is_local_address(address: str) -> bool:
    """Whether the address is local.

    Forms that parsers disagree about are refused: the code that connects later must see the same host.
    """
    return not address or (is_loopback(address) and not set("@\\") & set(address))


@functools.cache
def _choices() -> dict[str, list[str]]:
    properties = Settings.model_json_schema()["properties"]
    return {key: schema["enum"] for key, schema in properties.items() if "enum" in schema}


def _setting_value(settings: Settings, key: str) -> object:
    return settings.model_dump(include={key})[key]


def _without_credentials(setting: Setting, value: object) -> object:
    """The value without credentials in addresses. Objects are left out: they hold what adapters are started with."""
    if setting.kind == "object":
        return ""
    return _CREDENTIALS.sub("…", value) if isinstance(value, str) else value


WatchExpression = Annotated[str, msgspec.Meta(max_length=2000)]
PaneName = Annotated[str, msgspec.Meta(max_length=40)]
Pixels = Annotated[int, msgspec.Meta(ge=0, le=10_000)]


class Preferences(msgspec.Struct, frozen=True):
    language: Literal["", "en", "zh"] = ""
    """Empty: the browser's."""
    theme: Literal["", "light", "dark"] = ""
    """Empty: the system's."""
    watches: Annotated[tuple[WatchExpression, ...], msgspec.Meta(max_length=WATCHES_AT_MOST)] = ()
    """Expressions that the debugger keeps an eye on."""
    pane_sizes: dict[PaneName, Pixels] = {}
    folded_panes: tuple[PaneName, ...] = ()
    follows_agent: bool = True
    """Whether the debugger shows the session and stop of the client that acts."""
    evaluated: dict[str, tuple[WatchExpression, ...]] = {}
    """What was typed into the debugger's console, by workspace, the newest last."""


class _Evaluated(RequestBody):
    workspace: Annotated[str, msgspec.Meta(max_length=4096)]
    expression: WatchExpression


class _PreferenceChange(RequestBody):
    """Missing members stay as they are.

    Watches are added and removed one by one, so that two tabs do not overwrite each other.
    """

    language: Literal["", "en", "zh"] | None = None
    theme: Literal["", "light", "dark"] | None = None
    watch: WatchExpression | None = None
    unwatch: WatchExpression | None = None
    pane_sizes: dict[PaneName, Pixels] | None = None
    fold: PaneName | None = None
    unfold: PaneName | None = None
    follows_agent: bool | None = None
    evaluated: _Evaluated | None = None


class PreferencesApi:
    """Preferences of the person at the page. It owns their file; a file that cannot be read counts as empty."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._preferences = _read_preferences(file)
        self._writing = anyio.Lock()  # Serialises writes: the file holds the last change, whichever thread is faster.

    def chosen(self) -> Preferences:
        return self._preferences

    async def show(self, _: Request) -> Response:
        return json_response(self._preferences)

    async def change(self, request: Request) -> Response:
        wanted = await read_request(request, _PreferenceChange)
        self._preferences = _apply_change(self._preferences, wanted)
        async with self._writing:
            await anyio.to_thread.run_sync(replace_private, self._file, msgspec.json.encode(self._preferences))
        return json_response(self._preferences)


def _apply_change(kept: Preferences, wanted: _PreferenceChange) -> Preferences:
    watches = [it for it in kept.watches if it != wanted.unwatch]
    if wanted.watch and wanted.watch not in watches and len(watches) < WATCHES_AT_MOST:
        watches.append(wanted.watch)
    folded = [it for it in kept.folded_panes if it not in (wanted.fold, wanted.unfold)]
    sizes = {**kept.pane_sizes, **(wanted.pane_sizes or {})}
    return Preferences(
        language=kept.language if wanted.language is None else wanted.language,
        theme=kept.theme if wanted.theme is None else wanted.theme,
        watches=tuple(watches),
        pane_sizes=dict(list(sizes.items())[-PANES_AT_MOST:]),
        folded_panes=tuple([*folded, *([wanted.fold] if wanted.fold else [])][-PANES_AT_MOST:]),
        follows_agent=kept.follows_agent if wanted.follows_agent is None else wanted.follows_agent,
        evaluated=_with_evaluated(kept.evaluated, wanted.evaluated),
    )


def _with_evaluated(
    kept: dict[str, tuple[WatchExpression, ...]], wanted: _Evaluated | None
) -> dict[str, tuple[WatchExpression, ...]]:
    """The console used last is the last; each expression is in it once."""
    if wanted is None:
        return kept
    others = {name: typed for name, typed in kept.items() if name != wanted.workspace}
    before = [it for it in kept.get(wanted.workspace, ()) if it != wanted.expression]
    newest = (*before, wanted.expression)[-EVALUATED_AT_MOST:]
    return dict([*others.items(), (wanted.workspace, newest)][-CONSOLES_AT_MOST:])


def _read_preferences(file: Path) -> Preferences:
    try:
        return msgspec.json.decode(read_private(file), type=Preferences)
    except FileNotFoundError:
        return Preferences()
    except (OSError, msgspec.DecodeError, UnicodeError, DragomanError) as error:
        log.warning("what was chosen at the page cannot be read: %s", error)
        return Preferences()
