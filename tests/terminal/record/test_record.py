"""Terminals recorded and read back: commands, output, order, resumption, privacy."""

from __future__ import annotations

import gc
import os
import re
import weakref
from contextlib import aclosing
from pathlib import Path

import anyio
import pytest

from dragoman.core.errors import DragomanError
from dragoman.terminal.model import (
    AGENT,
    GAP,
    PRIVATE,
    CommandFailedNotice,
    CommandFilter,
    CommandReport,
    PatternNotice,
    RecordedCommand,
    StreamPiece,
)
from tests.journal.support import files_with
from tests.support.clocks import VirtualClock
from tests.terminal.record_support import DEADLINE_S, NOON_MS, Shell, names_in, output_of, recorded

pytestmark = pytest.mark.anyio


async def test_a_command_has_its_line_its_folder_its_times_its_exit_code_and_its_output(tmp_path: Path) -> None:
    async with recorded(tmp_path) as service:
        shell = Shell(service)
        await shell.begin()
        await shell.show(b"$ ")
        command = await shell.run("make all", b"one\r\n", b"two\r\n", exit_code=2, cwd="/src")
        assert (command.line, command.cwd, command.exit_code, command.verified) == ("make all", "/src", 2, True)
        assert command.failed
        assert command.ended_ns is not None
        assert command.ended_ns > command.started_ns >= NOON_MS * 1_000_000
        assert await output_of(service, command) == b"one\r\ntwo\r\n", "the prompt before it is not its output"
        assert await service.command(command.id) == command
        assert command.output_bytes == 10


async def test_without_a_boundary_the_output_since_the_last_command_is_its_own(tmp_path: Path) -> None:
    async with recorded(tmp_path) as service:
        shell = Shell(service, verifies=False)
        await shell.begin()
        first = None
        for number in range(3):
            await shell.show(b"output %d\r\n" % number)
            first = await shell.ended(f"echo {number}", shell.now_ms)
            assert await output_of(service, first) == b"output %d\r\n" % number
            assert not first.verified


async def test_a_command_without_nonce_is_unverified_and_no_last_failure(tmp_path: Path) -> None:
    async with recorded(tmp_path) as service:
        shell = Shell(service)
        await shell.begin()
        forged = await shell.run("rm -rf /", exit_code=1, unverified=True)
        assert not forged.verified
        assert await service.last_failure() is None
        assert await service.last_failure(verified=False) == forged
        real = await shell.run("false", exit_code=1)
        assert await service.last_failure(terminal=shell.terminal) == real
        assert await service.last_failure(cwd="/elsewhere") is None


@pytest.mark.parametrize("session", ["../../up", "a/b", "", ".", "x" * 500, "a\0b", "名前", "debug-0123456789abcdef"])
async def test_a_peers_name_never_becomes_a_path_nor_anothers_name(tmp_path: Path, session: str) -> None:
    async with recorded(tmp_path / "home") as service:
        shell = Shell(service, session)
        await shell.begin()
        command = await shell.run("id", b"uid=0\r\n")
        (seen,) = service.terminals()
        assert seen.terminal.id != session
        assert service.terminal(session) == seen, "the client's own name is understood"
        assert await output_of(service, command) == b"uid=0\r\n"
    assert names_in(tmp_path) == ["home"]
    assert names_in(tmp_path / "home" / "journal" / "segments") == [seen.terminal.id]


async def test_one_terminal_cannot_speak_of_anothers_commands(tmp_path: Path) -> None:
    async with recorded(tmp_path) as service:
        mine, other = Shell(service, "mine"), Shell(service, "other")
        await mine.begin()
        await other.begin()
        kept = await mine.run("make", b"done\r\n")
        result = CommandReport(id=kept.id, terminal="other", line="evil", started_ms=NOON_MS, exit_code=0)
        forged = await service.command_ended(result)
        assert forged.id == f"other:{kept.id}"
        assert await service.command(kept.id) == kept


async def test_what_comes_before_the_start_of_its_session_is_kept(tmp_path: Path) -> None:
    async with recorded(tmp_path) as service:
        await service.record("early", "output", NOON_MS, b"hello\r\n")
        assert await service.tail("early", 100) == b"hello\r\n"
        assert service.terminal("early").terminal.started_ns == NOON_MS * 1_000_000


async def test_attributes_are_merged_and_those_of_a_moment_are_not_kept(tmp_path: Path) -> None:
    async with recorded(tmp_path) as service:
        shell = Shell(service)
        await shell.begin(cwd="/a")
        await service.begin(shell.terminal, parent="", at_ms=1, attributes={"cwd": "/b", GAP: "3", AGENT: "claude"})
        seen = service.terminal(shell.terminal).terminal
        assert seen.attributes["cwd"] == "/b"
        assert seen.attributes["shell"] == "bash"
        assert GAP not in seen.attributes
        assert seen.owner == "agent"


async def test_a_gap_is_where_it_was_and_is_counted(tmp_path: Path) -> None:
    async with recorded(tmp_path) as service:
        shell = Shell(service)
        await shell.begin()
        await service.command_began(shell.terminal, shell.tick(), "yes")
        began_ms = shell.now_ms
        await shell.show(b"y\r\n")
        await service.begin(shell.terminal, parent="", at_ms=shell.tick(), attributes={GAP: "1000"})
        await shell.show(b"z\r\n")
        command = await shell.ended("yes", began_ms)
        assert command.lost_bytes == 1000
        assert await output_of(service, command) == b"y\r\nz\r\n"
        pieces = [(piece.kind, piece.data) async for piece in service.pieces(shell.terminal)]
        assert pieces == [("output", b"y\r\n"), ("gap", b"1000"), ("output", b"z\r\n")]


async def test_nothing_is_recorded_while_a_terminal_is_private(tmp_path: Path) -> None:
    async with recorded(tmp_path) as service:
        shell = Shell(service)
        await shell.begin()
        await shell.run("public", b"seen\r\n")
        await service.begin(shell.terminal, parent="", at_ms=shell.tick(), attributes={PRIVATE: "1"})
        hidden = await shell.run("vault read hush", b"hush\r\n")
        await shell.type(b"hush\n")
        await service.notice(shell.terminal, shell.tick(), PatternNotice("hush"))
        assert (hidden.line, hidden.output) == ("", None)
        await service.begin(shell.terminal, parent="", at_ms=shell.tick(), attributes={PRIVATE: "0"})
        await shell.run("again", b"shown\r\n")
        assert [command.line for command in await service.commands(CommandFilter())] == ["again", "public"]
        assert await service.tail(shell.terminal, 100) == b"seen\r\nshown\r\n"
    assert files_with(tmp_path, b"hush") == []


async def test_input_is_kept_beside_output_and_is_not_output(tmp_path: Path) -> None:
    async with recorded(tmp_path) as service:
        shell = Shell(service)
        await shell.begin()
        await service.command_began(shell.terminal, shell.tick(), "read x")
        began_ms = shell.now_ms
        await shell.type(b"an answer\n")
        await shell.show(b"an answer\r\n")
        command = await shell.ended("read x", began_ms)
        assert await output_of(service, command) == b"an answer\r\n"
        assert [piece.kind async for piece in service.pieces(shell.terminal)] == ["input", "output"]


async def test_any_page_of_a_long_output_is_what_was_shown_there(tmp_path: Path) -> None:
    async with recorded(tmp_path, segment_bytes=3_000) as service:
        shell = Shell(service)
        await shell.begin()
        await shell.run("before", b"other output\r\n" * 50)
        lines = [b"line %06d\r\n" % number for number in range(3_000)]
        command = await shell.run("seq", *(b"".join(lines[at : at + 7]) for at in range(0, 3_000, 7)))
        await shell.run("after", b"other output\r\n" * 50)
        whole = b"".join(lines)
        assert command.output_bytes == len(whole)
        for offset in (0, 1, 13, 2_999, 3_000, 20_000, len(whole) - 1, len(whole), len(whole) + 5, -1, -500, -(10**9)):
            page = await service.output(command.id, offset=offset, limit=700)
            start = max(0, len(whole) + offset) if offset < 0 else min(offset, len(whole))
            assert (page.offset, page.data, page.total) == (start, whole[start : start + 700], len(whole))
        assert await service.tail(shell.terminal, 20) == (b"other output\r\n" * 2)[-20:]


async def test_bytes_are_exactly_what_came_where_redaction_is_off(tmp_path: Path) -> None:
    async with recorded(tmp_path, redact=False) as service:
        shell = Shell(service)
        await shell.begin()
        sent = [os.urandom(size) for size in (1, 10, 65_536, 300_000, 7)] + [b"password='hunter22' \x1b[3"]
        command = await shell.run("cat /dev/urandom", *sent)
        assert await output_of(service, command) == b"".join(sent)


async def test_what_was_held_back_is_shown_after_a_short_quiet(tmp_path: Path) -> None:
    async with recorded(tmp_path) as service:
        shell = Shell(service)
        await shell.begin(dragoman_resumes_at="0")
        watched = service.watch(shell.terminal)
        await shell.show(b"grep sk-lear")
        assert await service.tail(shell.terminal, 100) == b"grep sk-"
        found = b""
        with anyio.fail_after(DEADLINE_S):
            async for data in watched:
                found += data
                if found == b"grep sk-lear":
                    break
        await watched.aclose()
        assert await service.tail(shell.terminal, 100) == b"grep sk-lear"


@pytest.mark.parametrize("cut", range(1, 30))
async def test_of_a_client_that_cannot_send_again_all_is_written_at_once_with_no_secret_in_it(
    tmp_path: Path, cut: int
) -> None:
    line = b"say password=hunter2hunter2 twice\r\n"
    async with recorded(tmp_path) as service:
        shell = Shell(service)
        await shell.begin()
        await shell.show(line[:cut])
        assert not service.holds(shell.terminal)
        first = await service.tail(shell.terminal, 100)
        await shell.show(line[cut:])
        whole = await service.tail(shell.terminal, 100)
    for shown, result in ((first, cut), (whole, len(line))):
        assert len(re.sub(rb"<redacted (\d+) chars>", lambda mark: b"x" * int(mark[1]), shown)) == result
        assert b"=h" not in shown
        assert b"hunt" not in shown


async def test_of_such_a_client_an_escape_that_is_cut_off_waits_alone(tmp_path: Path) -> None:
    async with recorded(tmp_path) as service:
        shell = Shell(service)
        await shell.begin()
        await shell.show(b"pass\x1b[1")
        assert await service.tail(shell.terminal, 100) == b"pass"
        await shell.show(b"mword=hunter2hunter2\r\n")
        assert await service.tail(shell.terminal, 100) == b"pass\x1b[1mword=<redacted 14 chars>\r\n"


async def test_nothing_stays_behind_at_a_boundary_or_at_the_end(tmp_path: Path) -> None:
    async with recorded(tmp_path) as service:
        shell = Shell(service)
        await shell.begin(dragoman_resumes_at="0")
        command = await shell.run("echo -n sk-ab", b"sk-ab")
        assert await output_of(service, command) == b"sk-ab"
        await shell.show(b"sk-cd")
    async with recorded(tmp_path) as service:
        assert await service.tail(shell.terminal, 100) == b"sk-absk-cd"


async def test_a_fast_end_is_never_missed_and_a_slow_one_is_waited_for(tmp_path: Path) -> None:
    async with recorded(tmp_path) as service:
        shell = Shell(service)
        await shell.begin()
        first = await shell.run("one")
        second = await shell.run("two")
        found = await service.wait_for_command(shell.terminal, after=first.id, within_s=DEADLINE_S)
        assert found == second, "it ended before anybody waited"
        assert await service.wait_for_command(shell.terminal, after=second.id, within_s=0.01) is None
        ended: list[RecordedCommand | None] = []

        async def wait() -> None:
            ended.append(await service.wait_for_command(shell.terminal, within_s=DEADLINE_S))

        async with anyio.create_task_group() as group:
            group.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            third = await shell.run("three")
        assert ended == [third]


async def test_a_watcher_that_is_slow_learns_what_it_missed(tmp_path: Path) -> None:
    async with recorded(tmp_path) as service:
        shell = Shell(service)
        await shell.begin()
        watched = service.watch(shell.terminal)
        for _ in range(40):
            await shell.show(b"x" * 65_535 + b"\n")
        await service.end(shell.terminal, shell.tick(), 0)
        found = [data async for data in watched]
        assert b"bytes were shown too fast to follow]" in found[0]
        assert sum(map(len, found)) < 1_200_000


async def test_a_watcher_that_never_reads_is_dropped(tmp_path: Path) -> None:
    async with recorded(tmp_path) as service:
        shell = Shell(service)
        await shell.begin()
        async with aclosing(service.watch(shell.terminal)) as watched:
            left = weakref.ref(watched)
        del watched
        gc.collect()
        assert left() is None


async def test_listeners_get_every_finished_command_and_a_broken_one_harms_nobody(tmp_path: Path) -> None:
    received: list[str] = []

    def broken(_: RecordedCommand) -> None:
        raise ValueError("broken")

    async with recorded(tmp_path) as service:
        service.on_command(broken)
        service.on_command(lambda command: received.append(command.line))
        shell = Shell(service)
        await shell.begin()
        await shell.run("ls")
    assert received == ["ls"]


async def test_a_running_command_is_seen_and_the_end_of_a_terminal_too(tmp_path: Path) -> None:
    async with recorded(tmp_path) as service:
        shell = Shell(service)
        await shell.begin()
        await service.command_began(shell.terminal, shell.tick(), "sleep 1000")
        running = service.terminal(shell.terminal).running
        assert running is not None
        assert (running.line, running.ended_ns) == ("sleep 1000", None)
        await service.end(shell.terminal, shell.tick(), 129)
        service.disconnected(shell.terminal)
        seen = service.terminal(shell.terminal)
        assert (seen.connected, seen.running, seen.terminal.exit_code) == (False, None, 129)


async def test_the_journal_has_what_happened_and_finds_it_by_its_words(tmp_path: Path) -> None:
    async with recorded(tmp_path) as service:
        shell = Shell(service)
        await shell.begin()
        await shell.run("make frobnicate", exit_code=2)
        await service.notice(shell.terminal, shell.tick(), CommandFailedNotice(2))
        await service.notice(shell.terminal, shell.tick(), PatternNotice("segmentation fault"))
        await service.end(shell.terminal, shell.tick(), 0)
        journal = service._journal
        events = [recorded.event for recorded in await journal.read(session=shell.terminal)]
        kinds = [event.kind for event in events]
        assert [event.body["by"] for event in events] == ["terminal"] * 5
        assert events[2].body["line"] == "make frobnicate"
        assert kinds == [
            "terminal.began",
            "terminal.command_ended",
            "terminal.command_failed",
            "terminal.pattern_seen",
            "terminal.ended",
        ]
        assert [found.event.kind for found in await journal.search("frobnicate")] == ["terminal.command_ended"]


async def test_what_is_unknown_is_reported_with_what_there_is(tmp_path: Path) -> None:
    async with recorded(tmp_path) as service:
        with pytest.raises(DragomanError, match="No terminal with id 'x'"):
            service.terminal("x")
        await Shell(service, "there").begin()
        with pytest.raises(DragomanError) as caught:
            service.terminal("x")
        assert (caught.value.code, str(caught.value.hint)) == ("unknown_terminal", "Available: there.")
        with pytest.raises(DragomanError) as caught:
            await service.output("there:99")
        assert caught.value.code == "unknown_command"


async def test_pieces_carry_the_time_at_which_they_were_shown(tmp_path: Path) -> None:
    async with recorded(tmp_path) as service:
        await service.record("t", "output", NOON_MS, b"a")
        await service.record("t", "output", NOON_MS + 1_500, b"b")
        found = [piece async for piece in service.pieces("t")]
        assert found == [StreamPiece(NOON_MS, "output", b"a"), StreamPiece(NOON_MS + 1_500, "output", b"b")]


async def test_a_time_that_has_not_come_counts_as_now_and_hides_nothing_newer(tmp_path: Path) -> None:
    clock = VirtualClock()
    now_ms = clock.wall_ns() // 1_000_000
    far_ms = now_ms + 10**11
    async with recorded(tmp_path, clock=clock) as service:
        await service.begin("t", parent="", at_ms=far_ms, attributes={})
        await service.record("t", "output", far_ms, b"a")
        result = CommandReport(id="t:1", terminal="t", line="far", started_ms=far_ms, ended_ms=far_ms, exit_code=1)
        far = await service.command_ended(result)
        assert (far.started_ns // 1_000_000, far.ended_ns, far.claimed_ns) == (now_ms, now_ms * 10**6, far_ms * 10**6)
        clock.advance(1)
        result = CommandReport(
            id="t:2", terminal="t", line="now", started_ms=now_ms + 500, ended_ms=now_ms + 900, exit_code=1
        )
        await service.command_ended(result)
        await service.record("t", "output", now_ms + 950, b"b")
        assert [it.line for it in await service.commands(CommandFilter(terminal="t"))] == ["now", "far"]
        assert [piece.at_ms async for piece in service.pieces("t")] == [now_ms, now_ms + 950]
        await service.end("t", far_ms, 0)
        assert service.terminal("t").terminal.ended_ns == (now_ms + 1_000) * 10**6


async def test_a_clock_that_was_set_back_does_not_turn_the_stream_round(tmp_path: Path) -> None:
    async with recorded(tmp_path) as service:
        for at_ms in (NOON_MS, NOON_MS - 5_000, NOON_MS + 10):
            await service.record("t", "output", at_ms, b"x")
        assert [piece.at_ms async for piece in service.pieces("t")] == [NOON_MS, NOON_MS, NOON_MS + 10]


async def test_a_clock_that_was_set_back_does_not_hide_what_ran_last(tmp_path: Path) -> None:
    async with recorded(tmp_path) as service:
        for number, started_ms in enumerate((NOON_MS, NOON_MS - 3_600_000, 1)):
            result = CommandReport(id=f"t:{number}", terminal="t", line=f"echo {number}", started_ms=started_ms)
            await service.command_ended(result)
        newest_first = await service.commands(CommandFilter(terminal="t"))
        assert [it.line for it in newest_first] == ["echo 2", "echo 1", "echo 0"]
        assert [it.claimed_ns for it in newest_first] == [1_000_000, (NOON_MS - 3_600_000) * 1_000_000, None]


async def test_what_comes_late_leaves_an_ended_terminal_ended_and_a_new_start_opens_it(tmp_path: Path) -> None:
    async with recorded(tmp_path) as service:
        shell = Shell(service)
        await shell.begin()
        await service.end(shell.terminal, shell.tick(), 3)
        await service.begin(shell.terminal, parent="", at_ms=shell.tick(), attributes={}, reopens=False)
        await shell.show(b"late")
        await shell.run("make", b"late too")
        await service.notice(shell.terminal, shell.tick(), CommandFailedNotice(2))
        await service.end(shell.terminal, shell.tick(), None)
        assert service.terminal(shell.terminal).terminal.exit_code == 3
        assert b"".join([it.data async for it in service.pieces(shell.terminal)]) == b"latelate too"
        await shell.begin()
        assert service.terminal(shell.terminal).terminal.ended_ns is None


async def test_what_a_client_says_of_a_command_is_kept_as_it_came_after_redaction(tmp_path: Path) -> None:
    key = "-----BEGIN PRIVATE KEY-----\nMIIEvQ\nabc"
    async with recorded(tmp_path) as service:
        await service.command_began("t", NOON_MS, "make")
        for number, (line, summary) in enumerate([(None, "API_KEY=abcdefgh12345678 ok"), ("", key), ("ls", "a\nb")]):
            result = CommandReport(id=f"t:{number}", terminal="t", line=line, started_ms=NOON_MS, summary=summary)
            await service.command_ended(result)
    async with recorded(tmp_path) as service:
        unnamed, empty, named = sorted(await service.commands(CommandFilter(terminal="t")), key=lambda it: it.id)
        assert (unnamed.line, unnamed.line_told, unnamed.ended_ns) == ("make", False, None)
        assert "abcdefgh" not in unnamed.summary
        assert unnamed.summary.endswith(" ok")
        assert (empty.line, empty.line_told) == ("", True)
        assert "MIIE" not in empty.summary
        assert named.summary == "a\nb"
