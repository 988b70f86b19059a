"""Recordings go out and come in again; hostile ones are refused, bounded, or believed in nothing."""

from __future__ import annotations

import contextlib
import io
import json
import os
import struct
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.core.errors import DragomanError
from dragoman.core.redaction import Redactor
from dragoman.journal import Journal
from dragoman.terminal.exchange import (
    FORMATS,
    export_recording,
    import_recording,
    importer,
    omnish_folder,
    open_recording,
)
from dragoman.terminal.exchange.recording_model import CommandEnd, RecordingItem
from dragoman.terminal.model import GAP, VERIFIES, CommandFilter, CommandReport, StreamPiece
from dragoman.terminal.record.command_store import CommandStore
from dragoman.terminal.screen import SIZE, emulate, resize_sequence, terminal_size
from dragoman.terminal.service import TerminalService

pytestmark = pytest.mark.anyio

START = 1_700_000_000_000


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[TerminalService]:
    store = CommandStore()
    async with (
        Journal.open(tmp_path / "journal", stores=[store]) as journal,
        TerminalService.open(journal, store, tmp_path / "index", redactor=Redactor()) as service,
    ):
        yield service


async def recorded(service: TerminalService) -> str:
    """A session of two commands, all within a millisecond or two, with a window that changed."""
    attributes = {VERIFIES: "1", SIZE: "80x24", "shell": "/bin/bash"}
    await service.begin("orig", parent="p", at_ms=START, attributes=attributes)
    await service.record("orig", "output", START + 5, "$ echo 中文\r\n".encode())
    await service.command_began("orig", START + 5, "echo 中文")
    await service.record("orig", "output", START + 5, "\x1b[31m中文\x1b[0m\r\n".encode())
    result = CommandReport(
        id="orig:1",
        terminal="orig",
        line="echo 中文",
        cwd="/tmp",
        started_ms=START + 5,
        ended_ms=START + 5,
        exit_code=0,
    )
    await service.command_ended(result)
    await service.record("orig", "output", START + 5, b"$ " + resize_sequence((80, 24), (100, 30)) + b"false\r\n")
    await service.command_began("orig", START + 1500, "false")
    result = CommandReport(
        id="orig:2", terminal="orig", line="false", cwd="/", started_ms=START + 1500, ended_ms=START + 1600, exit_code=1
    )
    await service.command_ended(result)
    await service.record("orig", "output", START + 1700, b"$ exit\r\n")
    await service.end("orig", START + 2000, 0)
    return "orig"


async def written(service: TerminalService, terminal: str, format: str, folder: Path) -> Path:
    place = folder / format
    files: dict[str, bytes] = {}
    async for part in export_recording(service, terminal, format):
        files[part.file] = files.get(part.file, b"") + part.data
    if set(files) == {""}:
        place.write_bytes(files[""])
    else:
        place.mkdir()
        for name, data in files.items():
            (place / name).write_bytes(data)
    return place


async def brought_in(service: TerminalService, place: Path) -> str:
    with open_recording(place) as (header, items):
        terminal, _ = await import_recording(service, header, items, lambda: f"new-{place.stem}")
    return terminal


async def test_what_was_brought_in_answers_only_where_its_terminal_is_asked_for(
    service: TerminalService, tmp_path: Path
) -> None:
    orig = await recorded(service)
    again = await brought_in(service, await written(service, orig, "asciicast", tmp_path))
    assert {one.terminal for one in await service.commands(CommandFilter())} == {orig}
    assert {one.terminal for one in await service.commands(CommandFilter(terminal=again))} == {again}
    assert {hit.terminal for hit in (await service.search_output("中文")).hits} == {orig}
    assert {hit.terminal for hit in (await service.search_output("中文", terminal=again)).hits} == {again}
    failed = await service.last_failure(verified=False)
    assert failed is not None
    assert failed.terminal == orig


async def stream_of(service: TerminalService, terminal: str) -> bytes:
    return b"".join([piece.data async for piece in service.pieces(terminal) if piece.kind == "output"])


@pytest.mark.parametrize("format", FORMATS)
async def test_what_goes_out_comes_in_with_its_stream_and_its_commands(
    service: TerminalService, tmp_path: Path, format: str
) -> None:
    terminal = await brought_in(service, await written(service, await recorded(service), format, tmp_path))
    assert await stream_of(service, terminal) == await stream_of(service, "orig")
    seen = service.terminal(terminal)
    assert (seen.terminal.ended_ns, seen.connected, seen.commands) == ((START + 2000) * 1_000_000, False, 2)
    before, after = [await service.commands(CommandFilter(terminal=name)) for name in ("orig", terminal)]
    for one, other in zip(before, after, strict=True):
        assert (one.line, one.cwd, one.exit_code) == (other.line, other.cwd, other.exit_code)
        assert one.started_ns // 1_000_000 == other.started_ns // 1_000_000
        outputs = [(await service.output(it.id)).data for it in (one, other)]
        assert outputs[0] == outputs[1]
        assert not other.verified


async def test_a_recording_of_the_far_future_comes_in_as_of_now(service: TerminalService, tmp_path: Path) -> None:
    far = 1 << 53
    ended = {"kind": "ended", "id": "far:1", "line": "ls", "started_ms": far, "ended_ms": far, "exit_code": 0}
    place = tmp_path / "far.jsonl"
    head = {"format": "dragoman.terminal/1", "id": "far", "started_ms": far, "columns": 80, "rows": 24}
    place.write_text("".join(json.dumps(line) + "\n" for line in (head, ended)))
    terminal = await brought_in(service, place)
    [command] = await service.commands(CommandFilter(terminal=terminal))
    assert command.started_ns <= time.time_ns() < (command.claimed_ns or 0)


@pytest.mark.parametrize("version", [2, 3])
async def test_an_asciicast_is_what_its_players_expect(service: TerminalService, tmp_path: Path, version: int) -> None:
    format = "asciicast" if version == 2 else "asciicast3"
    place = await written(service, await recorded(service), format, tmp_path)
    header, *events = [json.loads(line) for line in place.read_text().splitlines()]
    assert header["version"] == version
    size = (header["width"], header["height"]) if version == 2 else (header["term"]["cols"], header["term"]["rows"])
    assert size == (80, 24)
    assert header["timestamp"] == START // 1000
    assert [it[2] for it in events if it[1] == "r"] == ["100x30"]
    times = [it[0] for it in events]
    assert times[-1] == (pytest.approx(1.7) if version == 2 else pytest.approx(0.3))
    assert all(time >= 0 for time in times)
    assert ("x" in [it[1] for it in events]) == (version == 3)
    assert "".join(it[2] for it in events if it[1] == "o").startswith("$ echo 中文\r\n")


async def test_a_session_folder_is_as_the_original_writes_it(service: TerminalService, tmp_path: Path) -> None:
    place = await written(service, await recorded(service), "omnish", tmp_path)
    meta = json.loads((place / "meta.json").read_text())
    commands = json.loads((place / "commands.json").read_text())
    assert list(meta) == ["session_id", "parent_session_id", "started_at", "ended_at", "attrs"]
    assert meta["started_at"] == "2023-11-14T22:13:20.000000000+00:00"
    assert list(commands[0]) == [
        "command_id", "session_id", "command_line", "cwd", "started_at", "ended_at", "output_summary",
        "stream_offset", "stream_length", "exit_code",
    ]  # fmt: skip
    data = (place / "stream.bin").read_bytes()
    at, length = commands[0]["stream_offset"], commands[0]["stream_length"]
    at_ms, direction, size = struct.unpack_from(">QBI", data, at)
    assert (at_ms, direction, length) == (START + 5, 1, size + 13)
    assert data[at + 13 : at + length].decode() == "\x1b[31m中文\x1b[0m\r\n"


async def test_a_recording_of_another_program_has_its_own_size(service: TerminalService, tmp_path: Path) -> None:
    place = tmp_path / "their.cast"
    events: list[Any] = [[0.5, "o", "left"], [0.1, "r", "40x5"], [1, "o", "\x1b[5;38Hx"], [0.2, "m", ""], [1, "q", "?"]]
    header = {"version": 3, "term": {"cols": 20, "rows": 4}, "env": {"SHELL": "/bin/zsh"}, "timestamp": 1}
    place.write_text("\n".join(json.dumps(it) for it in (header, *events)) + "\n# a comment\n")
    terminal = await brought_in(service, place)
    screen = emulate(await stream_of(service, terminal), *terminal_size(service.terminal(terminal).terminal))
    assert (screen.columns, screen.rows, screen.lines[4]) == (40, 5, " " * 37 + "x")
    assert service.terminal(terminal).terminal.attributes["shell"] == "/bin/zsh"


# Hostile ones.


async def test_nothing_that_a_recording_says_of_itself_is_believed(service: TerminalService, tmp_path: Path) -> None:
    place = tmp_path / "evil.jsonl"
    header = {
        "format": "dragoman.terminal/1", "id": "../../etc/x", "started_ms": START, "parent": "orig",
        "attributes": {VERIFIES: "1", GAP: "999999", "dragoman.agent": "root", "shell": "sh"},
    }  # fmt: skip
    command = {"kind": "ended", "id": "orig:1", "line": "rm -rf /", "started_ms": START, "exit_code": 1 << 80}
    place.write_text("\n".join(json.dumps(it) for it in (header, command)) + "\n")
    await recorded(service)
    terminal = await brought_in(service, place)
    seen = service.terminal(terminal).terminal
    assert (seen.id, seen.parent, seen.owner) == ("new-evil", "", "person")
    (forged,) = await service.commands(CommandFilter(terminal=terminal))
    assert (forged.verified, forged.exit_code, forged.id.startswith("new-evil")) == (False, None, True)
    assert (await service.command("orig:1")).line == "echo 中文"
    assert await service.last_failure(terminal=terminal) is None
    assert await service.commands(CommandFilter(text="999999")) == []


@pytest.mark.parametrize("format", ["asciicast", "asciicast3", "jsonl"])
async def test_a_torn_last_line_is_left_out_and_a_broken_one_before_is_not(
    service: TerminalService, tmp_path: Path, format: str
) -> None:
    place = await written(service, await recorded(service), format, tmp_path)
    whole = place.read_bytes()
    place.write_bytes(whole[:-10])
    with open_recording(place) as (_, items):
        assert len(list(items)) >= 5
    lines = whole.splitlines(keepends=True)
    place.write_bytes(lines[0] + b'[1, "o", \n' + b"".join(lines[1:]))
    assert refusal(place) == "bad_recording"


async def test_a_torn_stream_is_read_as_far_as_it_is_whole(service: TerminalService, tmp_path: Path) -> None:
    place = await written(service, await recorded(service), "omnish", tmp_path)
    whole = (place / "stream.bin").read_bytes()
    for cut in (1, 7, 12, 20):
        (place / "stream.bin").write_bytes(whole[:-cut])
        with open_recording(place) as (_, items):
            pieces = [it for it in items if isinstance(it, StreamPiece)]
        assert sum(len(it.data) + 13 for it in pieces) <= len(whole) - cut


def refusal(place: Path) -> str:
    with pytest.raises(DragomanError) as refused, open_recording(place) as (_, items):
        list(items)
    assert str(refused.value.message).isprintable()
    return refused.value.code


@pytest.mark.parametrize(
    "text",
    [
        "", "{}", "[]", "null", "no json at all\n", '{"version": 1}\n', '{"version": 2}\n{"not": "an event"}\n',
        '{"version": 2}\n["x", "o", "y"]\n', '{"version": 2}\n[NaN, "o", "y"]\n', '{"version": 2}\n[1, 2, 3]\n',
        '{"version": 2, "timestamp": "x"}\n', "[" * 100_000 + "\n", '{"format": "dragoman.terminal/1"}\n',
        '{"format": "dragoman.terminal/1", "started_ms": 1}\n{"kind": "output", "base64": "%"}\n',
        '{"format": "dragoman.terminal/1", "started_ms": 1}\n{"kind": "what"}\n',
    ],
)  # fmt: skip
def test_what_is_not_a_recording_is_refused(tmp_path: Path, text: str) -> None:
    place = tmp_path / "file"
    place.write_text(text)
    assert refusal(place) == "bad_recording"


def test_neither_a_link_nor_a_pipe_nor_a_device_is_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text('{"version": 2}\n')
    (tmp_path / "link").symlink_to(secret)
    os.mkfifo(tmp_path / "pipe")
    places = [tmp_path / "link", tmp_path / "pipe", Path("/dev/zero"), tmp_path / "missing"]
    session = tmp_path / "session"
    session.mkdir()
    (session / "meta.json").write_text('{"started_at": "2026-01-01T00:00:00+00:00"}')
    (session / "commands.json").write_text("[]")
    (session / "stream.bin").symlink_to(secret)
    assert [refusal(place) for place in (*places, session)] == ["bad_recording"] * 5


def test_what_is_too_large_is_refused_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importer, "MOST_BYTES", 1000)
    monkeypatch.setattr(importer, "MOST_LINE", 100)
    place = tmp_path / "file"
    place.write_bytes(b"x" * 1001)
    assert refusal(place) == "bad_recording"
    place.write_bytes(b'{"version": 2}\n[1, "o", "' + b"y" * 100 + b'"]\n')
    assert refusal(place) == "bad_recording"


def test_a_piece_that_claims_gigabytes_is_refused(tmp_path: Path) -> None:
    (tmp_path / "meta.json").write_text('{"started_at": "2026-01-01T00:00:00+00:00"}')
    (tmp_path / "commands.json").write_text("[]")
    (tmp_path / "stream.bin").write_bytes(struct.pack(">QBI", 1, 1, 0xFFFFFFFF))
    assert refusal(tmp_path) == "bad_recording"


@given(
    st.binary(max_size=300),
    st.binary(max_size=200),
    st.lists(st.tuples(st.integers(0, 300), st.integers(0, 300)), max_size=5),
)
def test_any_bytes_are_read_or_refused(stream: bytes, rest: bytes, spans: list[tuple[int, int]]) -> None:
    commands = [{"stream_offset": at, "stream_length": length, "started_at": 1} for at, length in spans]
    meta = b'{"started_at": "2026-01-01T00:00:00+00:00"}'
    items: list[RecordingItem] = []
    with contextlib.suppress(DragomanError):
        items += omnish_folder.read_omnish_folder(meta, json.dumps(commands).encode(), io.BytesIO(stream + rest))[1]
        assert len([it for it in items if not isinstance(it, StreamPiece)]) == 2 * len(spans)


async def test_a_gap_comes_in_where_it_was(service: TerminalService, tmp_path: Path) -> None:
    await service.begin("torn", parent="", at_ms=START, attributes={})
    await service.record("torn", "output", START + 1, b"before\r\n")
    await service.begin("torn", parent="", at_ms=START + 2, attributes={GAP: "77"})
    await service.record("torn", "output", START + 3, b"after\r\n")
    terminal = await brought_in(service, await written(service, "torn", "jsonl", tmp_path))
    shown = [(piece.kind, piece.data) async for piece in service.pieces(terminal)]
    assert shown == [("output", b"before\r\n"), ("gap", b"77"), ("output", b"after\r\n")]


@pytest.mark.parametrize("format", FORMATS)
async def test_an_export_never_runs_backwards(service: TerminalService, tmp_path: Path, format: str) -> None:
    await service.begin("back", parent="", at_ms=START, attributes={})
    for at_ms, text in ((START + 9_000, b"a"), (START + 1_000, b"b")):
        await service.record("back", "output", at_ms, text)
    result = CommandReport(
        id="back:1", terminal="back", line="make", started_ms=START + 500, ended_ms=None, exit_code=0
    )
    await service.command_ended(result)
    await service.record("back", "output", START + 9_500, b"c")
    with open_recording(await written(service, "back", format, tmp_path)) as (_, items):
        times = [item.at_ms for item in items if isinstance(item, StreamPiece)]
    assert times == sorted(times)
    assert len(times) == 3


@pytest.mark.parametrize("format", ["omnish", "jsonl", "asciicast"])
async def test_unreported_fields_are_exported_as_absent(service: TerminalService, tmp_path: Path, format: str) -> None:
    await service.begin("bare", parent="", at_ms=START, attributes={})
    result = CommandReport(id="bare:1", terminal="bare", line=None, started_ms=START, ended_ms=None, summary="one\ntwo")
    await service.command_ended(result)
    with open_recording(await written(service, "bare", format, tmp_path)) as (_, items):
        (ended,) = [item for item in items if isinstance(item, CommandEnd)]
    assert (ended.line, ended.ended_ms, ended.summary) == (None, None, "one\ntwo")
