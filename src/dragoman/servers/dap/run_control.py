"""DAP requests for run control. Each is decided on the stop that the editor last saw, and takes its turn in the
session's mailbox.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from dragoman.core.errors import DragomanError
from dragoman.debug.model import StepKind
from dragoman.debug.registry import FollowedSession
from dragoman.debug.service import DebugService
from dragoman.servers.dap import arguments as take
from dragoman.servers.dap import errors as dap_errors
from dragoman.servers.dap import event_publisher
from dragoman.servers.dap.event_publisher import DapEventPublisher
from dragoman.workspace.caller import Caller

_OVERTAKEN_CODES = frozenset({"not_stopped", "moved_on"})


class RunControlRequests:
    """Handles continue, step, pause, restart and terminate."""

    def __init__(
        self, service: DebugService, client: Caller, followed: FollowedSession, publisher: DapEventPublisher
    ) -> None:
        self._service = service
        self._client = client
        self._followed = followed
        self._publisher = publisher

    async def resume(self, args: take.ThreadArguments) -> dict[str, Any]:
        run_control, by = self._followed.session.run_control, self._client.id
        await self._run_command(run_control.resume(thread_id=args.thread_id, seen_stop=self._seen_stop, by=by))
        return {"allThreadsContinued": True}

    async def step_over(self, args: take.StepArguments) -> dict[str, Any]:
        return await self._step("over", args)

    async def step_into(self, args: take.StepArguments) -> dict[str, Any]:
        return await self._step("into", args)

    async def step_out(self, args: take.StepArguments) -> dict[str, Any]:
        return await self._step("out", args)

    async def goto(self, args: take.GotoArguments) -> dict[str, Any]:
        return await self._jump("goto", {"targetId": args.target_id}, thread_id=args.thread_id)

    async def restart_frame(self, args: take.FrameArguments) -> dict[str, Any]:
        return await self._jump("restartFrame", {}, frame=args.frame_id)

    async def step_back(self, args: take.StepArguments) -> dict[str, Any]:
        return await self._jump("stepBack", args.more, thread_id=args.thread_id)

    async def reverse_continue(self, args: take.ThreadArguments) -> dict[str, Any]:
        return await self._jump("reverseContinue", {}, thread_id=args.thread_id)

    async def pause(self, _: take.ThreadArguments) -> dict[str, Any]:
        """Pause the program. If it is stopped already, the stop is published or about to be."""
        if not self._followed.session.is_at_stop:
            await self._followed.session.run_control.pause(by=self._client.id)
        return {}

    async def restart(self, _: take.AnyArguments) -> dict[str, Any]:
        await self._service.restart(self._client, self._followed.session.id, within_s=0)
        return {}

    async def terminate(self, _: take.AnyArguments) -> dict[str, Any]:
        await self._followed.session.terminate(by=self._client.id)
        return {}

    @property
    def _seen_stop(self) -> int | None:
        return self._publisher.published_stop or None

    async def _step(self, kind: StepKind, args: take.StepArguments) -> dict[str, Any]:
        run_control, by = self._followed.session.run_control, self._client.id
        thread = args.thread_id
        await self._run_command(
            run_control.step(kind, thread_id=thread, seen_stop=self._seen_stop, by=by, more=args.more)
        )
        return {}

    async def _jump(self, command: str, more: dict[str, Any], **whom: int) -> dict[str, Any]:
        run_control, by = self._followed.session.run_control, self._client.id
        await self._run_command(run_control.jump(command, more, seen_stop=self._seen_stop, by=by, **whom))
        return {}

    async def _run_command(self, command: Awaitable[None]) -> None:
        with self._publisher.deferred():
            try:
                await command
            except DragomanError as error:
                by, did = self._followed.session.run_control.by, self._followed.session.run_control.command
                if error.code in _OVERTAKEN_CODES and by not in {"", self._client.id}:
                    raise dap_errors.overtaken(
                        who=event_publisher.actor_text(self._followed.session, by), command=did
                    ) from error
                raise
            self._publisher.mark_resumed()
