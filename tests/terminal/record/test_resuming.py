"""After a lost connection or a crash of the daemon the stream resumes: nothing twice, nothing missing unmarked."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from dragoman.core.errors import DragomanError
from dragoman.terminal.model import GAP, PRIVATE, RESUMES_AT, CommandFilter
from tests.journal.support import require_sound
from tests.support.faulty_system import FaultySystem
from tests.terminal.record_support import Shell, output_of, recorded

pytestmark = pytest.mark.anyio
ROUNDS = 5
LINES = [b"line %d of a terminal\r\n" % number for number in range(20_000)]
STREAM = b"".join(LINES)


async def resumed(shell: Shell, position: int, **more: str) -> None:
    attributes = {**shell.attributes, RESUMES_AT: str(position), **more}
    await shell.service.begin(shell.terminal, parent="", at_ms=1, attributes=attributes)


async def pieces(shell: Shell) -> list[tuple[str, bytes]]:
    return [(piece.kind, piece.data) async for piece in shell.service.pieces(shell.terminal)]


async def test_what_is_sent_again_is_not_recorded_again(tmp_path: Path) -> None:
    async with recorded(tmp_path) as service:
        shell = Shell(service)
        await shell.begin()
        await shell.show(b"0123456789")
        await resumed(shell, 4)
        await shell.show(b"45")
        await shell.show(b"6789ab")
        await shell.show(b"cd")
        assert await service.tail(shell.terminal, 100) == b"0123456789abcd"


async def test_a_command_that_is_reported_again_is_the_same_command(tmp_path: Path) -> None:
    async with recorded(tmp_path) as service:
        shell = Shell(service)
        await shell.begin()
        began_ms = shell.now_ms + 10
        first = await shell.run("make", b"made\r\n")
        await resumed(shell, 0)
        await service.command_began(shell.terminal, began_ms, "make")
        await shell.show(b"made\r\n")
        shell.count = 0
        again = await shell.ended("make", began_ms)
        assert again == first
        await shell.run("make test", b"tested\r\n")
        found = await service.commands(CommandFilter())
        assert [command.line for command in found] == ["make test", "make"]
        assert await output_of(service, found[0]) == b"tested\r\n"
        assert service.terminal(shell.terminal).commands == 2


async def test_bytes_that_never_came_are_a_gap(tmp_path: Path) -> None:
    async with recorded(tmp_path) as service:
        shell = Shell(service)
        await shell.begin()
        await shell.show(b"0123")
        await resumed(shell, 10)
        await shell.show(b"abc")
        assert await pieces(shell) == [("output", b"0123"), ("gap", b"6"), ("output", b"abc")]


async def test_a_gap_that_is_reported_again_is_one_gap_and_its_bytes_count_as_never_sent(tmp_path: Path) -> None:
    async with recorded(tmp_path) as service:
        shell = Shell(service)
        await shell.begin()
        await shell.show(b"0123")
        for _ in range(2):
            await resumed(shell, 4)
            await service.begin(shell.terminal, parent="", at_ms=1, attributes={GAP: "100"})
        await shell.show(b"4567")
        await resumed(shell, 8)
        await shell.show(b"89")
        assert await pieces(shell) == [("output", b"0123"), ("gap", b"100"), ("output", b"4567"), ("output", b"89")]


async def test_what_was_sent_in_private_counts_and_is_not_a_gap(tmp_path: Path) -> None:
    async with recorded(tmp_path) as service:
        shell = Shell(service)
        await shell.begin()
        await shell.show(b"seen ")
        await resumed(shell, 5, **{PRIVATE: "1"})
        await shell.show(b"hidden")
    async with recorded(tmp_path) as service:
        shell.service = service
        await resumed(shell, 11, **{PRIVATE: "0"})
        await shell.show(b"shown")
        assert await pieces(shell) == [("output", b"seen "), ("output", b"shown")]


async def test_a_command_that_ran_when_we_ended_has_all_of_its_output(tmp_path: Path) -> None:
    async with recorded(tmp_path, segment_bytes=200) as service:
        shell = Shell(service)
        await shell.begin()
        await shell.run("before", b"other\r\n")
        await service.command_began(shell.terminal, shell.tick(), "seq 100")
        began_ms = shell.now_ms
        for line in LINES[:40]:
            await shell.show(line)
    async with recorded(tmp_path, segment_bytes=200) as service:
        shell.service = service
        (seen,) = service.terminals()
        assert (seen.connected, seen.commands, seen.terminal.ended_ns) == (False, 1, None)
        await resumed(shell, len(b"other\r\n" + b"".join(LINES[:40])))
        running = service.terminal(shell.terminal).running
        assert running is not None
        assert running.line == "seq 100"
        for line in LINES[40:60]:
            await shell.show(line)
        command = await shell.ended("seq 100", began_ms)
        assert await output_of(service, command) == b"".join(LINES[:60])


async def test_the_count_of_what_came_survives_redaction(tmp_path: Path) -> None:
    secret = b"ghp_" + b"a1B2" * 9
    async with recorded(tmp_path) as service:
        shell = Shell(service)
        await shell.begin()
        await shell.show(b"x " + secret + b" y\r\n")
    async with recorded(tmp_path) as service:
        shell.service = service
        await resumed(shell, 10)
        await shell.show((b"x " + secret + b" y\r\n")[10:] + b"next\r\n")
        assert await service.tail(shell.terminal, 100) == b"x <redacted 40 chars> y\r\nnext\r\n"


async def _victim(folder: Path, sent: int) -> None:
    """Record the stream from a byte on, and say on stdout how far it was acknowledged, at once."""
    dice = random.Random(sent)
    async with recorded(folder, segment_bytes=30_000) as service:
        shell = Shell(service)
        await resumed(shell, sent)
        while sent < len(STREAM):
            piece = STREAM[sent : sent + dice.randint(1, 3_000)]
            await shell.show(piece)
            sent += len(piece)
            os.write(1, b"%d\n" % sent)


def _killed_somewhere(folder: Path, sent: int, dice: random.Random) -> int:
    """Run the victim, kill it with SIGKILL after some acknowledgements, return how far the last one said."""
    command = [sys.executable, "-P", "-m", __name__, str(folder), str(sent)]
    root = Path(__file__).parents[3]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=root, env=environment) as victim:
        assert victim.stdout is not None
        for _ in range(dice.randint(1, 25)):
            sent = int(victim.stdout.readline() or sent)
        victim.kill()
        return max([sent, *(int(line) for line in victim.stdout.read().split())])


async def test_nothing_acknowledged_is_lost_when_we_are_killed_at_any_moment(tmp_path: Path) -> None:
    dice = random.Random(11)
    sent = 0
    for _ in range(ROUNDS):
        sent = await anyio.to_thread.run_sync(_killed_somewhere, tmp_path, sent, dice)
        async with recorded(tmp_path) as service:
            found = [piece async for piece in service.pieces("ab12cd34")]
            stored = b"".join(piece.data for piece in found)
            assert {piece.kind for piece in found} == {"output"}
            assert stored == STREAM[: len(stored)], "in order, and nothing twice"
            assert len(stored) >= sent
    require_sound(tmp_path / "journal")


if __name__ == "__main__":
    anyio.run(_victim, Path(sys.argv[1]), int(sys.argv[2]))


async def test_what_could_not_be_written_is_refused_until_it_is_sent_again(tmp_path: Path) -> None:
    system = FaultySystem(10**6)
    async with recorded(tmp_path, system=system) as service:
        shell = Shell(service)
        await resumed(shell, 0)
        await shell.show(b"0123")
        system.fail_at = system.calls + 1
        for data in (b"4567", b"89"):
            with pytest.raises(DragomanError) as refused:
                await shell.show(data)
            assert refused.value.code == "not_kept"
        assert service.holds(shell.terminal), "its Acks are owed"
        await resumed(shell, 4)
        assert not service.holds(shell.terminal)
        await shell.run("make", b"4567", b"89\r\n")
        assert b"".join(data for _, data in await pieces(shell)) == b"0123456789\r\n"
        assert [kind for kind, _ in await pieces(shell)] == ["output"] * 3
        (command,) = await service.commands(CommandFilter())
        assert (command.output_bytes, command.lost_bytes) == (8, 0)


async def test_what_was_held_back_and_could_not_be_written_stays_unacknowledged(tmp_path: Path) -> None:
    system = FaultySystem(10**6)
    async with recorded(tmp_path, system=system) as service:
        shell = Shell(service)
        await resumed(shell, 0)
        await shell.show(b"user ")
        await shell.show(b"password=hun")
        assert service.holds(shell.terminal)
        system.fail_at = system.calls + 1
        with anyio.fail_after(10):
            while service._recorder.holding:
                assert service.holds(shell.terminal), "also while it is being written"
                await anyio.sleep(0.001)
        assert system.reached
        assert service.holds(shell.terminal)
        await resumed(shell, 5)
        await shell.show(b"password=hunter2hunter2\r\n")
        assert await service.tail(shell.terminal, 100) == b"user password=<redacted 14 chars>\r\n"


@pytest.mark.parametrize("cut", range(1, 24))
async def test_a_secret_over_the_death_of_the_daemon_is_redacted(tmp_path: Path, cut: int) -> None:
    """All but its end was let through or held by one life; the next one is sent what was not acknowledged."""
    line = b"password=hunter2hunter2\r\n"
    async with recorded(tmp_path) as service:
        shell = Shell(service)
        await resumed(shell, 0)
        await shell.show(line[:cut])
        service._recorder.holding.clear()  # as after a kill: nobody is left to show it
        was = await service.tail(shell.terminal, 100)
    async with recorded(tmp_path) as service:
        shell = Shell(service)
        await resumed(shell, 0)
        await shell.show(line)
        assert b"hunter" not in was
        assert await service.tail(shell.terminal, 100) == b"password=<redacted 14 chars>\r\n"
