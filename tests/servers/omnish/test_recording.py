"""What a connection sends is recorded in order, then acknowledged; no other connection may write to its session."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from dragoman.io.drivers import omnish_driver
from dragoman.protocols.omnish import BASE_REVISION, OmnishFrame, encode_frame, schema_named
from dragoman.protocols.omnish import messages as m
from dragoman.protocols.omnish import messages_v25 as newer
from dragoman.servers.omnish import recording, server
from dragoman.terminal.model import CommandFailedNotice, CommandReport, PatternNotice
from tests.io.processes.supervised_support import until
from tests.servers.omnish.client import began, ended, on_the_wire, shown
from tests.servers.omnish.omnish_fixture import TOKEN, standing

pytestmark = pytest.mark.anyio
V25 = schema_named("v25")
U64 = (1 << 64) - 1


@pytest.mark.requirement(
    "omnish:daemon:acknowledges",
    "omnish:daemon:records-session-start",
    "omnish:daemon:records-session-end",
    "omnish:daemon:records-io",
    "omnish:daemon:takes-events",
    "omnish:daemon:records-commands",
)
async def test_every_message_with_content_is_recorded_in_order_and_acknowledged(tmp_path: Path) -> None:
    entries = [
        m.SessionStart("s", "parent", 1, {"shell": "zsh"}),
        m.Event("s", 2, m.CommandBoundary("make")),
        m.IoData("s", m.IoDirection.INPUT, 3, b"y\r"),
        shown("s", b"failed", 4),
        ended("s", 1, "make", exit_code=2),
        m.Event("s", 5, m.NonZeroExit(2)),
        m.Event("s", 6, m.PatternMatch("fail")),
        m.SessionEnd("s", 7, 2),
    ]
    async with standing(tmp_path) as face, face.client() as client:
        ids = [await client.send(message) for message in entries]
        assert [await client.next() for _ in ids] == [m_ack(frame_id) for frame_id in ids]
        assert face.record.reported == [
            ("begin", "s", "parent", 1, {"shell": "zsh"}),
            ("command", "s", 2, "make"),
            ("input", "s", 3, b"y\r"),
            ("output", "s", 4, b"failed"),
            ("ended", command_report("s", 1, "make", 2)),
            ("notice", "s", 5, CommandFailedNotice(2)),
            ("notice", "s", 6, PatternNotice("fail")),
            ("end", "s", 7, 2),
        ]
        assert face.record.live == set()


def m_ack(frame_id: int) -> object:
    return OmnishFrame(frame_id, m.Ack())


def command_report(session: str, number: int, line: str, exit_code: int) -> CommandReport:
    return CommandReport(
        id=f"{session}:{number}", terminal=session, line=line, cwd="/home", started_ms=2000, ended_ms=3000,
        exit_code=exit_code,
    )  # fmt: skip


async def test_the_ack_waits_for_the_record(tmp_path: Path) -> None:
    async with standing(tmp_path) as face, face.client() as client:
        await client.ask(began("s"))
        face.record.may_take = anyio.Event()
        frame_id = await client.send(shown("s", b"x"))
        asked = await client.send(m.Request("r", "s", "q", m.AllSessions()))
        client.blocking.socket.settimeout(0.2)
        with pytest.raises(TimeoutError):
            await client.next()
        face.record.may_take.set()
        client.blocking.socket.settimeout(10)
        assert await client.reply_to(frame_id) == m.Ack()
        assert (await client.reply_to(asked)).is_final


async def test_what_is_held_back_is_acknowledged_when_it_is_written_and_holds_up_nothing(tmp_path: Path) -> None:
    async with standing(tmp_path) as face, face.client() as client:
        await client.ask(began("s", dragoman__resumes_at="0"))
        face.record.held.add("s")
        ids = [await client.send(shown("s", b"ghp_")), await client.send(shown("s", b"0123"))]
        assert await client.ask(began("other")) == m.Ack()
        assert face.record.output("s") == b"ghp_0123"
        face.record.held.clear()
        assert [(await client.next()).request_id for _ in ids] == ids


async def test_an_ack_that_is_owed_goes_before_the_next_of_its_session(tmp_path: Path) -> None:
    async with standing(tmp_path) as face, face.client() as client:
        await client.ask(began("s", dragoman__resumes_at="0"))
        face.record.held.add("s")
        first = await client.send(shown("s", b"ghp_"))
        await until(lambda: face.record.output("s") == b"ghp_")
        face.record.held.clear()
        second = await client.send(shown("s", b" no secret"))
        assert [(await client.next()).request_id for _ in range(2)] == [first, second]


async def test_a_client_that_does_not_resume_is_not_kept_waiting_for_what_is_held_back(tmp_path: Path) -> None:
    async with standing(tmp_path) as face, face.client() as client:
        await client.ask(began("s"))
        face.record.held.add("s")
        assert await client.ask(shown("s", b"ghp_")) == m.Ack()


async def test_what_comes_before_its_session_began_is_kept(tmp_path: Path) -> None:
    async with standing(tmp_path) as face, face.client() as client:
        assert await client.ask(shown("early", b"x")) == m.Ack()
        assert await client.ask(ended("late", 1, "ls")) == m.Ack()
        assert face.record.output("early") == b"x"
        assert face.record.live == {"early", "late"}
        assert ("begin", "early", "", 2000, {}) in face.record.reported


async def test_a_clock_that_says_anything_is_recorded_within_what_can_be_counted(tmp_path: Path) -> None:
    async with standing(tmp_path) as face, face.client() as client:
        assert await client.ask(m.SessionStart("s", None, U64, {})) == m.Ack()
        assert face.record.reported[0][3] * 1_000_000 < 1 << 63


async def test_one_connection_carries_several_sessions_and_each_keeps_its_order(tmp_path: Path) -> None:
    async with standing(tmp_path) as face, face.client() as client:
        for number in range(300):
            await client.send(shown(f"s{number % 3}", b"%d " % number))
        last = await client.send(began("s0"))
        assert await client.reply_to(last) == m.Ack()
        for session in range(3):
            assert face.record.output(f"s{session}") == b"".join(b"%d " % n for n in range(session, 300, 3))


async def test_the_newest_connection_speaks_for_a_session_and_the_older_one_is_ended(tmp_path: Path) -> None:
    async with standing(tmp_path) as face, face.client() as old, face.client() as new:
        await old.ask(began("s"))
        await old.ask(shown("s", b"old"))
        assert await new.ask(began("s")) == m.Ack()
        assert await old.is_closed()
        await new.ask(shown("s", b"new"))
        assert face.record.output("s") == b"oldnew"
        assert face.record.live == {"s"}


async def test_what_the_older_connection_had_not_recorded_never_comes_behind_the_newer(tmp_path: Path) -> None:
    async with standing(tmp_path) as face, face.client() as old, face.client() as new:
        await old.ask(began("s"))
        face.record.may_take = anyio.Event()
        await old.send(shown("s", b"on its way"))
        await old.send(shown("s", b" and behind it"))
        await until(lambda: face.record.waiting == 1)
        frame_id = await new.send(began("s"))
        await until(lambda: len(face.server) == 1)
        face.record.may_take.set()
        assert await new.reply_to(frame_id) == m.Ack()
        assert [it[0] for it in face.record.reported] == ["begin", "begin"]


async def test_a_command_that_is_just_recorded_is_whole_before_the_newer_begins(tmp_path: Path) -> None:
    async with standing(tmp_path) as face, face.client() as old, face.client() as new:
        await old.ask(began("s"))
        face.record.may_take = anyio.Event()
        await old.send(ended("s", 1, "make"))
        await until(lambda: face.record.waiting == 1)
        frame_id = await new.send(began("s"))
        await until(lambda: any(it.is_ending for it in face.server.connections))
        face.record.may_take.set()
        assert await new.reply_to(frame_id) == m.Ack()
        assert [it[0] for it in face.record.reported] == ["begin", "ended", "begin"]


async def test_an_older_connection_that_does_not_end_costs_the_newer_its_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "ENDS_WITHIN_S", 0.05)
    async with standing(tmp_path) as face, face.client() as old, face.client() as new:
        await old.ask(began("s"))
        face.record.may_take = anyio.Event()
        await old.send(ended("s", 1, "make"))
        await until(lambda: face.record.waiting == 1)
        await new.send(began("s"))
        assert await new.is_closed()
        face.record.may_take.set()


async def test_what_cannot_be_recorded_is_not_acknowledged_and_its_connection_ends(tmp_path: Path) -> None:
    async with standing(tmp_path) as face, face.client() as client:
        await client.ask(began("s"))
        face.record.is_broken = True
        await client.send(shown("s", b"x"))
        assert await client.is_closed()
        face.record.is_broken = False
        async with face.client() as again:
            assert await again.ask(began("s")) == m.Ack()


async def test_a_flood_waits_with_its_sender(tmp_path: Path) -> None:
    async with standing(tmp_path) as face, face.client() as client:
        await client.ask(began("s"))
        face.record.may_take = anyio.Event()
        client.blocking.socket.settimeout(0.5)
        flood = on_the_wire_of(shown("s", b"x" * 65536)) * 64
        with pytest.raises(TimeoutError):
            await anyio.to_thread.run_sync(client.blocking.socket.sendall, flood)
        face.record.may_take.set()


def on_the_wire_of(message: object) -> bytes:
    return on_the_wire(encode_frame(OmnishFrame(9, message), BASE_REVISION))


async def test_a_client_that_reads_nothing_is_disconnected_and_the_others_continue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(omnish_driver, "SENT_WITHIN_S", 0.3)
    async with standing(tmp_path) as face, face.client() as deaf, face.client() as other:
        frames = on_the_wire_of(m.Ack()) * 200_000
        with pytest.raises(ConnectionError):
            await anyio.to_thread.run_sync(deaf.blocking.socket.sendall, frames)
        assert await other.ask(began("s")) == m.Ack()
        await until(lambda: len(face.server) == 1)


async def test_many_connections_have_a_bound_and_the_next_one_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "share_of_descriptors", lambda *_, **__: 2)
    async with standing(tmp_path) as face, face.client() as first, face.client() as second:
        assert await first.ask(began("a")) == m.Ack()
        assert await second.ask(began("b")) == m.Ack()
        async with face.client() as third:
            assert await third.is_closed()
        assert await first.ask(began("a")) == m.Ack()


async def test_a_silent_client_is_disconnected_and_one_that_spoke_may_be_silent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "FIRST_FRAME_WITHIN_S", 0.2)
    async with standing(tmp_path) as face, face.client() as silent, face.client() as first_frame_received:
        await first_frame_received.ask(began("s"))
        assert await silent.is_closed()
        assert await first_frame_received.ask(began("s")) == m.Ack()


@pytest.mark.requirement("omnish:daemon:records-session-start")
async def test_an_update_of_a_newer_client_changes_what_it_names_and_a_heartbeat_nothing(tmp_path: Path) -> None:
    async with standing(tmp_path) as face, face.client(V25) as client:
        await client.ask(newer.Auth(TOKEN, 25))
        await client.ask(m.SessionStart("s", None, 1, {"shell": "bash", "cwd": "/"}))
        assert await client.ask(newer.SessionUpdate("s", 2, {})) == m.Ack()
        assert await client.ask(newer.SessionUpdate("s", 3, {"cwd": "/srv"})) == m.Ack()
        assert [it[4] for it in face.record.reported] == [{"shell": "bash", "cwd": "/"}, {"cwd": "/srv"}]


async def test_a_newer_client_needs_its_token(tmp_path: Path) -> None:
    async with standing(tmp_path) as face, face.client(V25) as client:
        assert await client.ask(newer.Auth("wrong", 25)) == newer.AuthResult(False, 25, "1.2.3")
        assert await client.is_closed()
        assert face.record.reported == []


async def test_a_client_of_another_version_may_stay_and_records_nothing(tmp_path: Path) -> None:
    async with standing(tmp_path) as face, face.client(V25) as client:
        refused = newer.AuthResult(False, 25, "1.2.3")
        assert await client.ask(newer.Auth(TOKEN, 24)) == refused
        assert await client.ask(shown("s", b"x")) == refused
        assert (await client.ask(newer.UpdateCheck("linux", "x86_64", "0.8.16", "h"))).available is False
        assert face.record.reported == []
        assert (await client.ask(newer.Auth(TOKEN, 25))).ok
        assert await client.ask(shown("s", b"x")) == m.Ack()


async def test_a_changed_token_ends_the_connections_that_used_it_and_no_others(tmp_path: Path) -> None:
    async with standing(tmp_path) as face, face.client(V25) as by_token, face.client() as by_uid:
        assert (await by_token.ask(newer.Auth(TOKEN, 25))).ok
        await by_uid.ask(began("s"))
        face.server.end_token_connections()
        assert await by_token.is_closed()
        assert await by_uid.ask(began("s")) == m.Ack()
