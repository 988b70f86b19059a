"""The gateway that we are a client of, as editors drive and show it: they name it and its token, the daemon connects.

The token comes over a socket whose both ends are proved, for that gateway alone, and is kept in memory as long as the
client of that gateway is. Editors keep it in their own secret storage.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from dragoman.daemon.outward import Outward
from dragoman.editor import Editor, Editors
from dragoman.errors import DragomanError
from dragoman.phrases import Language, say

ADDRESS = re.compile(r"wss?://\S{1,500}")
_MOST_TOKEN = 4096

Json = dict[str, Any]
Standing = Callable[[Language], Mapping[str, Any]]


class EditorGateway:
    def __init__(self, editors: Editors, link: Outward, standing: Standing) -> None:
        self._editors = editors
        self._link = link
        self._standing = standing
        editors.calls |= {
            "gateway.connect": self._connect,
            "gateway.disconnect": self._disconnect,
            "gateway.status": self._status,
        }

    async def publish(self) -> None:
        """For ever: every window shows how it stands."""
        while True:
            await self._link.changed()
            for editor in self._editors.all:
                editor.tell("gateway.state", dict(self._standing("en")))

    async def _connect(self, _: Editor, params: Json) -> Json:
        address, token = params.get("address"), params.get("token", "")
        if not isinstance(address, str) or not ADDRESS.fullmatch(address):
            raise not_an_address(str(address))
        if not isinstance(token, str) or len(token) > _MOST_TOKEN or not token.isprintable():
            raise DragomanError("bad_token", say("That is not a gateway's token."))
        await self._link.connect(address, token or None)
        return self._told(params)

    async def _disconnect(self, _: Editor, params: Json) -> Json:
        self._link.disconnect()
        return self._told(params)

    async def _status(self, _: Editor, params: Json) -> Json:
        return self._told(params)

    def _told(self, params: Json) -> Json:
        return dict(self._standing("zh" if str(params.get("language", "")).startswith("zh") else "en"))


def not_an_address(address: str) -> DragomanError:
    return DragomanError(
        "bad_address",
        say("That is not the address of a gateway: {address}", address=ascii(address[:200])),
        hint=say("It begins with ws:// or wss://, such as ws://127.0.0.1:18789."),
    )
