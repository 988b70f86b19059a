"""One edit of a configuration text, the check that nothing else changed, and a diff that hides secrets.

These files are full of other servers' keys. So the diff hides every string, in changed lines and around them, except
keys, and values that we write and that are not secrets.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal

from dragoman.clients import jsonc_text, toml_text
from dragoman.clients.catalog import Format, McpClient
from dragoman.clients.config_file import UneditableConfigError, unsupported_form, wrong_type
from dragoman.clients.entries import Entry, Transport, merge_entry
from dragoman.clients.machine import SERVER_NAME

HIDDEN = "…"
_CONTEXT = 2

Change = Literal["added", "updated", "unchanged", "removed", "absent"]


_TEXT_EDITORS: Mapping[Format, ModuleType] = {"jsonc": jsonc_text, "toml": toml_text}


@dataclass(frozen=True, slots=True)
class EditedText:
    change: Change
    text: str
    before: object = None
    """Our previous entry."""


def add_entry(client: McpClient, text: str, entry: Entry, transport: Transport) -> EditedText:
    servers = _servers(client, text)
    if SERVER_NAME not in servers:
        return _verified(client, text, EditedText("added", _put(client, text, entry)), {**servers, SERVER_NAME: entry})
    before = servers[SERVER_NAME]
    wanted = merge_entry(before, entry, transport)
    if before == wanted:
        return EditedText("unchanged", text, before)
    edited = EditedText("updated", _put(client, text, wanted), before)
    return _verified(client, text, edited, {**servers, SERVER_NAME: wanted})


def remove_entry(client: McpClient, text: str) -> EditedText:
    """Remove our entry. The container stays, even if it is empty: we do not know whether it existed before."""
    servers = _servers(client, text)
    if SERVER_NAME not in servers:
        return EditedText("absent", text)
    edited = EditedText(
        "removed", _TEXT_EDITORS[client.format].drop(text, client.container, SERVER_NAME), servers[SERVER_NAME]
    )
    return _verified(client, text, edited, {name: value for name, value in servers.items() if name != SERVER_NAME})


def snippet(client: McpClient, entry: Entry) -> str:
    """A small file with only our entry, for pasting."""
    shown: str = _TEXT_EDITORS[client.format].new_config(client.container, SERVER_NAME, entry)
    return shown


def _put(client: McpClient, text: str, entry: Entry) -> str:
    changed: str = _TEXT_EDITORS[client.format].put(text, client.container, SERVER_NAME, entry)
    return changed


def _parse(client: McpClient, text: str) -> dict[str, Any]:
    parsed: dict[str, Any] = _TEXT_EDITORS[client.format].parse(text)
    return parsed


def _servers(client: McpClient, text: str) -> dict[str, Any]:
    servers = _parse(client, text).get(client.container, {})
    if not isinstance(servers, dict):
        raise wrong_type(f'"{client.container}"')
    return servers


def _verified(client: McpClient, text: str, edited: EditedText, servers: dict[str, Any]) -> EditedText:
    """Parse the result as the client will: only our entry may differ.

    A container that held only our entry may disappear if it has no text of its own (a TOML header).
    """
    wanted = {**_parse(client, text), client.container: servers}
    try:
        result = {client.container: {}, **_parse(client, edited.text)}
    except UneditableConfigError:
        result = {}
    if result != wanted:
        raise unsupported_form(f'"{client.container}"')
    return edited


_TOKEN = re.compile(
    r'(?P<string>"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\])*"|\'[^\'\n]*\')(?P<colon>\s*[:=])?'
    r"|(?P<comment>//[^\n]*|/\*.*?\*/|\#[^\n]*)",
    re.DOTALL,
)
_VISIBLE = re.compile(r"[^\r\n]+")


def diff(old: str, new: str, *, public: Collection[str]) -> list[str]:
    """A diff. Lines are compared unmasked and shown masked, so that a changed secret still shows as a change."""
    before, after = _lines(old), _lines(new)
    shown_before, shown_after = _lines(mask_secrets(old, public)), _lines(mask_secrets(new, public))
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    lines: list[str] = []
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        lines += ["@@", *_hunk(group, shown_before, shown_after)]
    return lines


def _lines(text: str) -> list[str]:
    # Not `splitlines`: it also splits at characters that may be inside a string, and the mask would miss parts of it.
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n") if text else []


def mask_secrets(text: str, public: Collection[str]) -> str:
    def shown(match: re.Match[str]) -> str:
        string, colon = match["string"], match["colon"] or ""
        if string is None:
            return _VISIBLE.sub(_hide_comment, match[0])
        return match[0] if colon or string[1:-1] in public else _VISIBLE.sub(f"{string[0]}{HIDDEN}{string[0]}", string)

    return _TOKEN.sub(shown, text)


def _hide_comment(match: re.Match[str]) -> str:
    mark = re.match(r"//|/\*|#", match[0])
    return f"{mark[0] if mark else ''} {HIDDEN}"


def _hunk(group: list[tuple[str, int, int, int, int]], before: list[str], after: list[str]) -> Iterator[str]:
    for kind, old_start, old_end, new_start, new_end in group:
        if kind == "equal":
            yield from (f" {line}" for line in before[old_start:old_end])
            continue
        yield from (f"-{line}" for line in before[old_start:old_end])
        yield from (f"+{line}" for line in after[new_start:new_end])
