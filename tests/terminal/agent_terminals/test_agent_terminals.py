"""Agents' own terminals over the real wrapper and the real record: how many there are, and when they end."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import anyio
import anyio.lowlevel
import psutil
import pytest

from dragoman.core.errors import DragomanError
from dragoman.core.redaction import Redactor
from dragoman.io.net.unix_socket import bind_private_socket
from dragoman.io.processes.supervisor_pool import SupervisorPool
from dragoman.journal import Journal
from dragoman.servers.omnish.connection import OmnishServices
from dragoman.servers.omnish.server import OmnishServer
from dragoman.terminal.agent_terminals.pool import RECONNECT_GRACE_S, AgentTerminalPool
from dragoman.terminal.agent_terminals.terminal import AgentClient, AgentTerminal
from dragoman.terminal.consent import ConsentBroker
from dragoman.terminal.model import AGENT, ENDED_BY, CommandFilter
from dragoman.terminal.plain_text import to_plain_text
from dragoman.terminal.record.command_store import CommandStore
from dragoman.terminal.service import TerminalService
from tests.daemons import PATIENCE
from tests.support.clocks import VirtualClock

pytestmark = pytest.mark.anyio


class Book:
    """Which workspaces are trusted."""

    def __init__(self) -> None:
        self.trusted: set[Path] = set()

    async def trusts(self, workspace: Path) -> bool:
        return workspace in self.trusted


class Stand:
    def __init__(
        self, own: AgentTerminalPool, record: TerminalService, book: Book, clock: VirtualClock, client: AgentClient
    ) -> None:
        self.own, self.record, self.book, self.clock, self.client = own, record, book, clock, client

    async def opened(self) -> AgentTerminal:
        own = await self.own.open(self.client, self.client.cwd)
        own.release()
        return own

    async def ran(self, own: AgentTerminal, line: str) -> Any:
        self.own.mark_used(own)
        before = await self.record.commands(CommandFilter(terminal=own.id), limit=1)
        await own.run(line)
        with anyio.fail_after(10 * PATIENCE):
            command = await self.record.wait_for_command(own.id, after=before[0].id if before else "", within_s=10)
        assert command is not None
        return command


@asynccontextmanager
async def standing(tmp_path: Path, **bounds: Any) -> AsyncIterator[Stand]:
    store, book, clock, socket = CommandStore(), Book(), VirtualClock(), tmp_path / "run" / "s"
    workspace = tmp_path / "project"
    workspace.mkdir()
    environment = {"PATH": os.environ["PATH"], "SHELL": "/bin/bash", "HOME": str(tmp_path), "PS1": "$ "}
    client = AgentClient("agent-1", workspace, workspace, environment, trusts_workspace=True, link="first")
    async with (
        Journal.open(tmp_path / "journal", stores=[store]) as journal,
        TerminalService.open(journal, store, tmp_path / "index", redactor=Redactor()) as record,
        SupervisorPool() as supervisors,
        anyio.create_task_group() as group,
    ):
        services = OmnishServices(record, cast("Any", None), cast("Any", None), ConsentBroker(), lambda _: False, "1")
        with bind_private_socket(socket) as listener:
            group.start_soon(OmnishServer(services).serve, listener)
            own = AgentTerminalPool(supervisors, group, record, book, clock, socket, **bounds)
            yield Stand(own, record, book, clock, client)
            group.cancel_scope.cancel()


async def until(condition: Callable[[], object]) -> None:
    with anyio.fail_after(10 * PATIENCE):
        while not condition():  # noqa: ASYNC110  of things that tell nobody
            await anyio.sleep(0.01)


async def test_one_is_known_ready_and_recorded_as_any_other(tmp_path: Path) -> None:
    async with standing(tmp_path) as stand:
        own = await stand.opened()
        assert own.is_at_prompt
        seen = stand.record.terminal(own.id)
        assert (seen.connected, seen.terminal.owner, seen.terminal.attributes["dragoman.agent"]) == (
            True,
            "agent",
            "agent-1",
        )
        assert stand.own.find(stand.client, own.id) is own
        command = await stand.ran(own, "echo $HISTFILE $PAGER $OMNISH_SESSION_ID")
        assert to_plain_text((await stand.record.output(command.id)).data) == f"/dev/null cat {own.id}\n"


async def test_a_terminal_ends_with_its_shell(tmp_path: Path) -> None:
    async with standing(tmp_path) as stand:
        own = await stand.opened()
        await own.run("exit 3")
        await until(lambda: not stand.own.of(stand.client))
        await until(lambda: stand.record.terminal(own.id).terminal.exit_code == 3)


async def test_one_that_nobody_uses_ends_and_one_that_is_busy_does_not(tmp_path: Path) -> None:
    async with standing(tmp_path, idle_s=0.2) as stand:
        busy = await stand.opened()
        await busy.run("sleep 100")
        await until(lambda: stand.record.terminal(busy.id).running)
        idle = await stand.opened()
        stand.clock.advance(1)
        await until(lambda: stand.own.find(stand.client, idle.id) is None)
        assert stand.own.find(stand.client, busy.id) is busy


async def test_a_terminal_without_its_client_ends_with_what_runs_in_it_and_the_record_says_why(tmp_path: Path) -> None:
    async with standing(tmp_path) as stand:
        own = await stand.opened()
        await own.run("sleep 1000")
        await until(lambda: stand.record.terminal(own.id).running)
        stand.own.left("somebody else")
        assert own.disconnected_at_s is None
        stand.own.left(stand.client.link)
        stand.clock.advance(RECONNECT_GRACE_S + 1)
        await until(lambda: ended_by(stand, own) == "client_left")
        assert not stand.record.terminal(own.id).connected
        assert not psutil.pid_exists(own.pid)


async def test_one_belongs_to_its_client_alone(tmp_path: Path) -> None:
    async with standing(tmp_path) as stand:
        own = await stand.opened()
        others = [replace(stand.client, link="second"), replace(stand.client, link="second", reconnected=True)]
        assert [(stand.own.of(it), stand.own.find(it, own.id)) for it in others] == [([], None)] * 2
        assert stand.own.of(stand.client) == [own]


async def test_a_client_that_was_cut_off_finds_its_terminal_again_and_no_other_does(tmp_path: Path) -> None:
    async with standing(tmp_path, left_s=0.2) as stand:
        back = await stand.opened()
        stand.own.left(stand.client.link)
        again = replace(stand.client, link="again", reconnected=True)
        changes: list[dict[str, Any]] = [
            {"reconnected": False},
            {"id": "agent-2"},
            {"cwd": tmp_path},
            {"environment": {**again.environment, "X": "1"}},
        ]
        assert [stand.own.of(replace(again, **change)) for change in changes] == [[]] * 4
        assert stand.own.of(again) == [back]
        stand.clock.advance(1)
        gone = await stand.own.open(again, again.cwd)
        stand.own.left("again")
        stand.own.of(replace(again, link="third"))
        stand.clock.advance(0.1)
        assert stand.own.find(replace(again, link="third"), gone.id) is gone


async def test_two_calls_at_once_get_two_terminals_and_the_first_that_is_free_is_used_again(tmp_path: Path) -> None:
    async with standing(tmp_path, most=2) as stand:
        taken: list[AgentTerminal] = []

        async def take() -> None:
            taken.append(await stand.own.acquire(stand.client, None, 20))

        async with anyio.create_task_group() as group:
            group.start_soon(take)
            group.start_soon(take)
        assert len({it.id for it in taken}) == 2
        with pytest.raises(DragomanError) as refused:
            await stand.own.acquire(stand.client, None, 0)
        assert refused.value.code == "too_many_terminals"
        async with anyio.create_task_group() as group:
            group.start_soon(take)
            await anyio.lowlevel.checkpoint()
            assert len(taken) == 2
            taken[1].release()
        assert taken[2] is taken[1]
        assert {it.id for it in stand.own.of(stand.client)} == {it.id for it in taken}


async def test_all_end_with_the_daemon_and_those_of_a_killed_one_are_buried(tmp_path: Path) -> None:
    async with standing(tmp_path) as stand:
        own = await stand.opened()
        await stand.record.begin("orphan", parent="", at_ms=1, attributes={AGENT: "agent-0"})
        await stand.record.begin("person", parent="", at_ms=1, attributes={})
    store = CommandStore()
    async with (
        Journal.open(tmp_path / "journal", stores=[store]) as journal,
        TerminalService.open(journal, store, tmp_path / "index", redactor=Redactor()) as record,
        anyio.create_task_group() as group,
    ):
        terminal = record.terminal(own.id).terminal
        assert (terminal.attributes.get(ENDED_BY), terminal.ended_ns is None) == ("daemon_ended", False)
        unused = cast("Any", None)
        await AgentTerminalPool(unused, group, record, unused, VirtualClock(), tmp_path).end_orphans()
        assert record.terminal("orphan").terminal.attributes[ENDED_BY] == "daemon_died"
        assert record.terminal("person").terminal.ended_ns is None, "a person's wrapper may still come back"


def ended_by(stand: Stand, own: AgentTerminal) -> str | None:
    terminal = stand.record.terminal(own.id).terminal
    return terminal.attributes.get(ENDED_BY) if terminal.ended_ns is not None else None


async def test_where_there_are_too_many_the_one_unused_longest_makes_room(tmp_path: Path) -> None:
    async with standing(tmp_path, most=2) as stand:
        first, second = await stand.opened(), await stand.opened()
        stand.clock.advance(1)
        stand.own.mark_used(first)
        third = await stand.opened()
        assert {it.id for it in stand.own.of(stand.client)} == {first.id, third.id}
        for own in (first, third):
            await own.run("sleep 100")
        with pytest.raises(DragomanError) as refused:
            await stand.opened()
        assert refused.value.code == "too_many_terminals"
        await until(lambda: not psutil.pid_exists(second.pid))


async def test_without_trust_no_shell_starts(tmp_path: Path) -> None:
    async with standing(tmp_path) as stand:
        stand.client = AgentClient("agent-2", tmp_path, tmp_path, stand.client.environment)
        with pytest.raises(DragomanError) as refused:
            await stand.opened()
        assert refused.value.code == "needs_trust"
        assert stand.record.terminals() == ()
        stand.book.trusted.add(tmp_path)
        assert (await stand.opened()).id


@pytest.mark.parametrize(
    ("shell", "folder", "code"),
    [
        ("/bin/false", ".", "no_own_terminal"),
        ("brief", ".", "no_own_terminal"),
        ("/bin/bash", "missing", "bad_folder"),
    ],
)
async def test_one_that_cannot_be_opened_is_reported_and_the_next_can(
    tmp_path: Path, shell: str, folder: str, code: str
) -> None:
    brief = tmp_path / "brief"  # it is known by then
    brief.write_text("#!/bin/sh\nsleep 0.5\nexit 1\n")
    brief.chmod(0o700)
    async with standing(tmp_path) as stand:
        environment = {**stand.client.environment, "SHELL": str(tmp_path / shell)}
        broken = AgentClient("agent-1", stand.client.workspace, stand.client.cwd, environment, trusts_workspace=True)
        with pytest.raises(DragomanError) as refused:
            await stand.own.open(broken, stand.client.cwd / folder)
        assert refused.value.code == code
        assert (await stand.opened()).id


async def test_a_module_of_the_workspace_is_not_taken_for_the_wrapper(tmp_path: Path) -> None:
    async with standing(tmp_path) as stand:
        fake = stand.client.workspace / "dragoman" / "shell"
        fake.mkdir(parents=True)
        for folder in (fake.parent, fake):
            (folder / "__init__.py").write_text("open('/tmp/never', 'w')")
        (fake / "__main__.py").write_text("raise SystemExit(9)")
        environment = {**stand.client.environment, "PYTHONPATH": str(stand.client.workspace)}
        client = AgentClient("agent-1", stand.client.workspace, stand.client.cwd, environment, trusts_workspace=True)
        own = await stand.own.open(client, client.cwd)
        assert (await stand.ran(own, "echo ours")).exit_code == 0


async def test_a_terminal_does_not_begin_in_a_folder_that_nobody_trusted(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    async with standing(tmp_path) as it:
        workspace = it.client.workspace
        inside = workspace / "inside"
        inside.symlink_to(other)
        for cwd in (other, inside, workspace / "inside" / ".."):
            with pytest.raises(DragomanError) as caught:
                await it.own.require_trust(it.client, cwd)
            assert caught.value.code == "needs_trust"
        await it.own.require_trust(it.client, workspace)
        it.book.trusted.add(other)
        await it.own.require_trust(it.client, inside)
