"""Search in output: lines with all the words, newest first, whether the index has seen them or not."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.core.errors import DragomanError
from dragoman.terminal.search.query import parse_output_query
from tests.terminal.record_support import Shell, indexed, recorded

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("with_index", [False, True], ids=["read", "indexed"])
async def test_hits_are_lines_with_the_command_that_printed_them_newest_first(tmp_path: Path, with_index: bool) -> None:
    async with recorded(tmp_path) as service:
        shell, other = Shell(service), Shell(service, "other")
        await shell.begin()
        await other.begin()
        first = await shell.run("make", b"cc main.c\r\nmain.c:3: error: expected ';'\r\n", exit_code=2)
        await shell.show(b"$ an error in the prompt\r\n")
        second = await other.run("pytest", b"E  ValueError: no error here\r\n")
        if with_index:
            await indexed(service)
        output = await service.search_output("ERROR")
        assert [(hit.command_id, hit.line) for hit in output.hits] == [
            (second.id, "E  ValueError: no error here"),
            ("", "$ an error in the prompt"),
            (first.id, "main.c:3: error: expected ';'"),
        ]
        assert output.complete
        assert [hit.terminal for hit in (await service.search_output("error", terminal="other")).hits] == ["other"]
        assert len((await service.search_output("error", limit=1)).hits) == 1


@pytest.mark.parametrize("with_index", [False, True], ids=["read", "indexed"])
async def test_neither_a_typed_line_nor_the_record_read_aloud_is_found_as_output(
    tmp_path: Path, with_index: bool
) -> None:
    async with recorded(tmp_path) as service:
        shell = Shell(service)
        await shell.begin()
        await shell.show(b"$ make target\r\n")
        made = await shell.run("make target", b"no rule for target\r\n", exit_code=2)
        for asked in ("dragoman history target", "H=1 /opt/bin/dragoman last target | less"):
            await shell.show(f"$ {asked}\r\n".encode())
            await shell.run(asked, *[b"ab:1: no rule for target\r\n"] * 30, exit_code=3)
        forged = await shell.run("dragoman history target", b"a target\r\n", unverified=True)
        with_more = await shell.run("dragoman history target; make", b"another target\r\n")
        await shell.show(b"[1]+ Done: background target\r\n$ dragoman history target\r\n")
        await service.command_began(shell.terminal, shell.tick(), "dragoman history target")
        if with_index:
            await indexed(service)
        output = await service.search_output("target", limit=4)
        assert [hit.command_id for hit in output.hits] == ["", with_more.id, forged.id, made.id]
        assert output.hits[0].line == "[1]+ Done: background target"
        assert await service.last_failure() == made


@pytest.mark.parametrize(
    ("query", "lines"),
    [
        ("connection refused", {"dial tcp: connection refused", "refused: connection"}),
        ('"connection refused"', {"dial tcp: connection refused"}),
        ("refus*", {"dial tcp: connection refused", "refused: connection", "refusal"}),
        ("src/main.c", {"in src/main.c"}),
        ("main_window", {"class main_window"}),
        ("错误", {"发生错误 here"}),
        ("ünïcode", {"Ünïcode"}),
        ("dial refusal", set()),
        ("nnection", {"dial tcp: connection refused", "refused: connection"}),
        ("NNECT efus", {"dial tcp: connection refused", "refused: connection"}),
        ("nnection*", set()),
        ('"refuse"', set()),
        ("refus", {"dial tcp: connection refused", "refused: connection", "refusal"}),
        ("src/mai", {"in src/main.c"}),
        ("rc/mai", set()),
        ("ain_wind", {"class main_window"}),
        ("python", {"python3.11 -m pytest"}),
        ("test", {"python3.11 -m pytest"}),
        ("job", {"job1234567 began"}),
        ("1234", set()),
        ("job12", {"job1234567 began"}),
        ("ïcod", {"Ünïcode"}),
        ("вет", {"Привет мир"}),
        ("no", {"no_such_thing"}),
        ("ng", set()),
    ],
)
@pytest.mark.parametrize("with_index", [False, True], ids=["read", "indexed"])
async def test_words_their_parts_phrases_and_beginnings_on_one_line(
    tmp_path: Path, with_index: bool, query: str, lines: set[str]
) -> None:
    printed = ["dial tcp: connection refused", "refused: connection", "refusal", "in src/main.c", "class main_window"]
    printed += ["发生错误 here", "Ünïcode", "python3.11 -m pytest", "job1234567 began", "Привет мир", "no_such_thing"]
    async with recorded(tmp_path) as service:
        shell = Shell(service)
        await shell.begin()
        await shell.run("x", "\r\n".join([*printed, ""]).encode())
        if with_index:
            await indexed(service)
        assert {hit.line for hit in (await service.search_output(query)).hits} == lines


@pytest.mark.parametrize("with_index", [False, True], ids=["read", "indexed"])
async def test_a_line_is_found_whatever_pieces_and_colours_it_came_in(tmp_path: Path, with_index: bool) -> None:
    async with recorded(tmp_path) as service:
        shell = Shell(service)
        await shell.begin()
        await shell.run(
            "x", b"an early xylo", b"phone plays\r\n", b"\x1b[31mxylo\x1b[0mphone\r\n", b"55%\rxylophone 100%"
        )
        if with_index:
            await indexed(service)
        found = [hit.line for hit in (await service.search_output("xylophone")).hits]
        assert found == ["xylophone 100%", "xylophone", "an early xylophone plays"]


async def test_an_index_made_between_two_pieces_of_a_word_finds_it_once(tmp_path: Path) -> None:
    async with recorded(tmp_path) as service:
        shell = Shell(service)
        await shell.begin()
        await service.command_began(shell.terminal, shell.tick(), "x")
        began_ms = shell.now_ms
        await shell.show(b"an early xylo")
        await indexed(service)
        await shell.show(b"phone plays\r\nmore\r\n")
        assert [hit.line for hit in (await service.search_output("xylophone")).hits] == ["an early xylophone plays"]
        await indexed(service)
        command = await shell.ended("x", began_ms)
        await indexed(service)
        (hit,) = (await service.search_output("early")).hits
        assert (hit.line, hit.command_id) == ("an early xylophone plays", command.id)


async def test_the_answer_says_how_far_the_index_reaches_and_the_rest_is_read(tmp_path: Path) -> None:
    async with recorded(tmp_path) as service:
        shell = Shell(service)
        await shell.begin()
        await shell.run("one", b"xylophone one\r\n")
        await indexed(service)
        reached = await service.search_output("xylophone")
        await shell.run("two", b"xylophone two\r\n")
        behind = await service.search_output("xylophone")
        assert behind.indexed_upto_ns < reached.indexed_upto_ns
        assert behind.scanned_bytes >= len(b"xylophone two\r\n")
        assert [hit.line for hit in behind.hits] == ["xylophone two", "xylophone one"]


async def test_a_search_ends_at_its_deadline_and_says_that_it_did(tmp_path: Path) -> None:
    async with recorded(tmp_path) as service:
        shell = Shell(service)
        await shell.begin()
        for _ in range(20):
            await shell.show(b"xylophone and much more\r\n" * 2_500)
        output = await service.search_output("absent", timeout_s=0.0)
        assert (output.hits, output.complete) == ([], False)


@pytest.mark.parametrize("query", ["", "   ", '"', "***", "a" * 2_000, " ".join("abcdefghijklmnopqrstuvwxyz" * 2)])
async def test_what_cannot_be_searched_for_is_refused_with_what_can(tmp_path: Path, query: str) -> None:
    async with recorded(tmp_path) as service:
        with pytest.raises(DragomanError) as caught:
            await service.search_output(query)
        assert caught.value.code == "bad_query"


def test_a_long_line_is_shown_around_its_hit() -> None:
    (line,) = parse_output_query("needle").lines("x" * 5_000 + " needle " + "y" * 5_000)
    assert len(line) == 1_000
    assert "needle" in line


@pytest.mark.parametrize("with_index", [False, True], ids=["read", "indexed"])
async def test_long_frames_and_lines_without_end_give_each_hit_once(tmp_path: Path, with_index: bool) -> None:
    async with recorded(tmp_path) as service:
        shell = Shell(service)
        await shell.begin()
        much = b"".join(b"line %d of much\r\n" % number for number in range(9_000))
        endless = b"a%d " * 9_000 % tuple(range(9_000))
        await shell.run("x", *(much[at : at + 65_536] for at in range(0, len(much), 65_536)), endless)
        if with_index:
            await indexed(service)
        for number in range(0, 9_000, 617):
            output = await service.search_output(f'"line {number}"')
            assert [hit.line for hit in output.hits] == [f"line {number} of much"]
            assert len((await service.search_output(f'"a{number}"')).hits) == 1


async def test_an_internal_error_is_reported_to_the_peer_that_opened(tmp_path: Path) -> None:
    with pytest.raises(ExceptionGroup) as caught:
        async with recorded(tmp_path):
            raise ValueError("inside")
    assert caught.group_contains(ValueError, match="inside")
