"""An editor's run control, decided on the stop that it was told of, and taken in its turn like everybody's."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from dragoman.dap import arguments as take
from dragoman.dap import refusals, whom
from dragoman.dap.teller import Teller
from dragoman.debug.following import Followed
from dragoman.debug.model import StepKind
from dragoman.debug.service import Client, DebugService
from dragoman.errors import DragomanError

_ELSEWHERE = frozenset({"not_stopped", "moved_on"})


class Moving:
    def __init__(self, service: DebugService, client: Client, followed: Followed, teller: Teller) -> None:
        self._service = service
        self._client = client
        self._followed = followed
        self._teller = teller

    async def resume(self, asked: take.Thread) -> dict[str, Any]:
        session, by = self._followed.session, self._client.id
        await self._moved(session.resume(thread_id=asked.thread_id, seen_stop=self._seen, by=by))
        return {"allThreadsContinued": True}

    async def over(self, asked: take.Step) -> dict[str, Any]:
        return await self._step("over", asked)

    async def into(self, asked: take.Step) -> dict[str, Any]:
        return await self._step("into", asked)

    async def out(self, asked: take.Step) -> dict[str, Any]:
        return await self._step("out", asked)

    async def go_to(self, asked: take.Goto) -> dict[str, Any]:
        return await self._jump("goto", {"targetId": asked.target_id}, thread_id=asked.thread_id)

    async def restart_frame(self, asked: take.InFrame) -> dict[str, Any]:
        return await self._jump("restartFrame", {}, frame=asked.frame_id)

    async def back(self, asked: take.Step) -> dict[str, Any]:
        return await self._jump("stepBack", asked.more, thread_id=asked.thread_id)

    async def backwards(self, asked: take.Thread) -> dict[str, Any]:
        return await self._jump("reverseContinue", {}, thread_id=asked.thread_id)

    async def pause(self, _: take.Thread) -> dict[str, Any]:
        """One that stands already has been told of, or is about to be."""
        if not self._followed.session.stands:
            await self._followed.session.pause(by=self._client.id)
        return {}

    async def restart(self, _: take.Anything) -> dict[str, Any]:
        await self._service.restart(self._client, self._followed.session.id, within_s=0)
        return {}

    async def terminate(self, _: take.Anything) -> dict[str, Any]:
        await self._followed.session.terminate(by=self._client.id)
        return {}

    @property
    def _seen(self) -> int | None:
        return self._teller.told_stop or None

    async def _step(self, kind: StepKind, asked: take.Step) -> dict[str, Any]:
        session, by = self._followed.session, self._client.id
        thread = asked.thread_id
        await self._moved(session.step(kind, thread_id=thread, seen_stop=self._seen, by=by, more=asked.more))
        return {}

    async def _jump(self, command: str, more: dict[str, Any], **whom: int) -> dict[str, Any]:
        session, by = self._followed.session, self._client.id
        await self._moved(session.jump(command, more, seen_stop=self._seen, by=by, **whom))
        return {}

    async def _moved(self, command: Awaitable[None]) -> None:
        with self._teller.held():
            try:
                await command
            except DragomanError as error:
                by, did = self._followed.session.sent_on_by
                if error.code in _ELSEWHERE and by not in {"", self._client.id}:
                    raise refusals.overtaken(whom.told(self._followed.session, by), did) from error
                raise
            self._teller.went_on()
