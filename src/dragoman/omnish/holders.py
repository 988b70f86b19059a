"""Which connection speaks for a session: the newest that told something of it.

A wrapper that reconnects may be faster than the end of its old connection, whose last bytes still wait in the kernel
and come again on the new one. So the old one is ended first, with what it had not been told as recorded.
"""

from __future__ import annotations

from typing import Protocol

import anyio

from dragoman.transport.omnish_driver import HangUp

ENDS_WITHIN_S = 10.0


class Holder(Protocol):
    @property
    def ended(self) -> anyio.Event: ...

    def end(self) -> None: ...


class Holders:
    def __init__(self) -> None:
        self._by_session: dict[str, Holder] = {}

    async def claim(self, session_id: str, holder: Holder) -> bool:
        """Whether it is new to this holder. Nobody else records in the session when this returns."""
        before = self._by_session.get(session_id)
        while before is not None and before is not holder:
            await _ended(before)
            if self._by_session.get(session_id) is before:
                del self._by_session[session_id]
            before = self._by_session.get(session_id)
        self._by_session[session_id] = holder
        return before is None

    def release(self, session_id: str, holder: Holder) -> None:
        if self._by_session.get(session_id) is holder:
            del self._by_session[session_id]


async def _ended(holder: Holder) -> None:
    holder.end()
    try:
        with anyio.fail_after(ENDS_WITHIN_S):
            await holder.ended.wait()
    except TimeoutError:
        raise HangUp("the older connection of its session does not end") from None
