"""Which servers on this machine may receive a secret: this user's, root's, and those in `trusted_servers`.

Another user can take a free port before its rightful owner does, and would receive the token. So the owner of the
connection is looked up once it is accepted, before a byte is sent on it; what listens there later does not matter.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

import anyio.to_thread

from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from dragoman.io.net.peers import user_name
from dragoman.io.net.streams import is_trusted_owner, owner_of

_PORT_BY_SCHEME = {"http": 80, "ws": 80, "https": 443, "wss": 443}


def server_address(url: str) -> str:
    """`HOST:PORT` as the setting `trusted_servers` names it."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    return f"{f'[{host}]' if ':' in host else host}:{parts.port or _PORT_BY_SCHEME.get(parts.scheme, 0)}"


async def require_trusted_server(sock: socket.socket, url: str, trusted: Callable[[], Sequence[str]]) -> None:
    """`trusted` is called in a thread, if another user's server answers. A server on another machine is not checked
    here."""
    peer = await owner_of(sock)
    if is_trusted_owner(peer):
        return
    if peer.uid is None:
        raise ConnectionResetError("the server closed the connection at once")
    address, user = server_address(url), user_name(peer.uid)
    entries = await anyio.to_thread.run_sync(trusted)
    if not {f"{address} {user}", f"{address} {peer.uid}"}.isdisjoint(" ".join(it.split()) for it in entries):
        return
    raise ForeignServerError(address, user, entries)


class ForeignServerError(DragomanError):
    def __init__(self, address: str, user: str, entries: Sequence[str]) -> None:
        self.entry = f"{address} {user}"
        """In the form of `trusted_servers`."""
        super().__init__(
            "foreign_server",
            localize(
                "The server at {address} belongs to the user {user}, not to you. Nothing was sent.",
                address=address,
                user=user,
            ),
            hint=localize(
                "If you trust that user with your token or key: `dragoman config set trusted_servers '{entries}'`.",
                entries=", ".join([*entries, self.entry]),
            ),
        )
