"""An answer that is sent as it is made. Whoever leaves ends its making, in the task that makes it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

import anyio
from starlette.responses import Response
from starlette.types import Receive, Scope, Send


class StreamedText(Response):
    media_type = "text/plain"

    def __init__(self, pieces: AsyncGenerator[str, None]) -> None:
        super().__init__()
        del self.headers["content-length"]
        self._pieces = pieces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        async with anyio.create_task_group() as group:
            group.start_soon(_until_left, receive, group.cancel_scope)
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            async with aclosing(self._pieces) as pieces:
                async for piece in pieces:
                    body = piece.encode(errors="replace")  # what was printed may not be text
                    await send({"type": "http.response.body", "body": body, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
            group.cancel_scope.cancel("everything is said")


async def _until_left(receive: Receive, scope: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel("the caller left")
