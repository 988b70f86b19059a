"""What a replay of a session has to go by: its events, its stops in order, its output in time, and its files."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

import pytest

from dragoman.core.clock import SystemClock
from dragoman.core.errors import DragomanError
from dragoman.core.events import Event
from dragoman.core.redaction import Redactor
from dragoman.debug.session.output import SessionOutput
from dragoman.debug.stops.history import replay
from dragoman.debug.stops.history.replay import SessionReplays
from dragoman.debug.stops.history.stop_history import StopHistory
from dragoman.debug.stops.history.store import STORE, FrameRecord, StopContents, StopRecord, VariableRecord
from dragoman.journal import Journal

pytestmark = pytest.mark.anyio

SECRET = "password = 'hunter2hunter2'"


def stop(number: int, session: str = "s") -> StopRecord:
    frames = (FrameRecord("f", "/w/a.py", number), FrameRecord("run", "/usr/lib/python3/x.py", 3, True))
    seen = StopContents(frames, (VariableRecord("n", str(number), "int"),), ("n",))
    return StopRecord(
        session=session, number=number, at_ns=number, title="a.py", workspace="/w", reason="step", seen=seen
    )


async def read_lines(path: str, workspace: Path, named: Collection[str]) -> Sequence[str] | None:
    assert (workspace, path in named) == (Path("/w"), True)
    return ["n = 1", SECRET] if path == "/w/a.py" else None


def replays(journal: Journal, output: SessionOutput | None = None) -> SessionReplays:
    history = StopHistory(journal, SystemClock())
    return SessionReplays(journal, history, {"s": output}.get, read_lines, Redactor())


async def recorded(journal: Journal, count: int) -> None:
    await journal.append([Event(kind="mcp.connected", session="mcp-1", text="mcp connected", body={"client": "Owl"})])
    await journal.append([Event(kind="breakpoint.set", body={"breakpoint": {"line": 3}}, workspace="/w")])
    started = Event(kind="debug.started", session="s", body={"title": "a.py", "workspace": "/w", "by": "mcp-1"})
    stopped = [Event(kind="debug.stopped", session="s", body={"stop": it}) for it in range(1, count + 1)]
    await journal.append([started, *stopped, Event(kind="debug.stopped", session="other", body={"stop": 1})])
    for number in range(1, count + 1):
        await journal.append([], writes=STORE.add(stop(number)))


async def test_a_recording_has_everything_of_its_session_and_no_secret(tmp_path: Path) -> None:
    output = SessionOutput()
    output.append("stdout", "one\n")
    async with Journal.open(tmp_path / "j", stores=[STORE]) as journal:
        await recorded(journal, 3)
        await journal.append([], writes=STORE.add(stop(1, "other")))
        found = await replays(journal, output).recording("s")
        rest = replays(journal, output).output("s", 4)
    assert (rest.text, rest.start, rest.marks) == ("", 4, ())
    kinds = [it["event"]["kind"] for it in found.events]
    assert kinds == ["breakpoint.set", "debug.started", *["debug.stopped"] * 3]
    assert (found.title, found.workspace, found.names, found.cut) == ("a.py", "/w", {"mcp-1": "Owl"}, {})
    assert [it.number for it in found.stops] == [1, 2, 3]
    assert (found.output.text, found.output.start, found.output.marks[-1].end) == ("one\n", 0, 4)
    assert [it.path for it in found.sources] == ["/w/a.py"]  # its own files, none of a library
    assert found.sources[0].lines[0] == "n = 1"
    assert "hunter2" not in found.sources[0].lines[1]


async def test_a_recording_is_bounded_and_says_what_was_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay, "_MAX_STOPS_BYTES", 400)
    monkeypatch.setattr(replay, "_MAX_SOURCE_BYTES", 10)
    async with Journal.open(tmp_path / "j", stores=[STORE]) as journal:
        await recorded(journal, 9)
        found = await replays(journal).recording("s")
    assert found.stops[-1].number == 9  # the oldest are left out
    assert found.cut == {"stops": 9 - len(found.stops), "files": 1}
    assert 0 < len(found.stops) < 9
    assert found.output.text == ""


async def test_stops_are_read_on_from_a_number(tmp_path: Path) -> None:
    async with Journal.open(tmp_path / "j", stores=[STORE]) as journal:
        await recorded(journal, 3)
        assert [it.number for it in await replays(journal).stops("s", 1)] == [2, 3]


async def test_a_session_that_nobody_recorded_is_unknown(tmp_path: Path) -> None:
    async with Journal.open(tmp_path / "j", stores=[STORE]) as journal:
        with pytest.raises(DragomanError, match="No debug session 'x' is recorded"):
            await replays(journal).recording("x")
