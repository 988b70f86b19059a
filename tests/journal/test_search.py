"""Searching: newest first, words of people and never a syntax error, and an end to every query."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import apsw
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dragoman.core.errors import DragomanError
from dragoman.journal import Journal
from dragoman.journal.readers import RANKED_HITS
from dragoman.journal.search_query import QUERY_LIMIT_CHARACTERS, fts_expression
from tests.journal.support import line_event, lines

TALK = [
    "the debugger stopped at a breakpoint",
    "Program wrote: cannot open file /etc/app.conf",
    "调试器在断点处停止",
    "ValueError: could not convert string to float: 'NaN'",
    "breakpoint moved, debugger told",
    "naïve café",
]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("debugger", [4, 0]),
        ("DEBUGGER breakpoint", [4, 0]),
        ('"debugger stopped"', [0]),
        ('"debugger told', [4]),
        ("break*", [4, 0]),
        ("de*", [4, 0]),
        ("app.conf", [1]),
        ("/etc/app.conf", [1]),
        ("断点", [2]),
        ("调试器", [2]),
        ("器试", []),
        ("停*", [2]),
        ("cafe", [5]),
        ("'NaN'", [3]),
        ("debugger AND told", []),
        ("debugger NOT told", []),
        ("text:debugger", []),
        ("debugger - told", [4]),
        ("^the", [0]),
        ("nothing-like-it", []),
    ],
)
async def test_a_query_is_words_phrases_and_beginnings(tmp_path: Path, query: str, found: list[int]) -> None:
    async with Journal.open(tmp_path / "j") as journal:
        await journal.append([line_event(text) for text in TALK])
        assert [TALK.index(hit.event.text) for hit in await journal.search(query)] == found


@pytest.mark.anyio
async def test_hits_come_newest_first_and_only_so_many(tmp_path: Path) -> None:
    async with Journal.open(tmp_path / "j") as journal:
        await journal.append(lines(50))
        assert [hit.sequence for hit in await journal.search("line", limit=3)] == [50, 49, 48]


@pytest.mark.anyio
async def test_a_search_can_be_kept_to_a_session_or_to_kinds(tmp_path: Path) -> None:
    async with Journal.open(tmp_path / "j") as journal:
        await journal.append(
            [line_event("word", session=f"s{number % 3}", kind=f"k{number % 2}") for number in range(12)]
        )
        assert [hit.sequence for hit in await journal.search("word", session="s1")] == [11, 8, 5, 2]
        assert [hit.sequence for hit in await journal.search("word", session="s1", kinds=["k1", "k9"])] == [8, 2]
        assert await journal.search("word", session="nobody") == []


@pytest.mark.anyio
async def test_ranking_looks_at_the_newest_hits_alone(tmp_path: Path) -> None:
    async with Journal.open(tmp_path / "j") as journal:
        await journal.append([line_event("apple apple apple apple")])
        for _ in range(RANKED_HITS // 1_000):
            await journal.append([line_event(f"apple among many other words {number}") for number in range(1_000)])
        assert (await journal.search("apple", ranked=True, limit=1))[0].sequence != 1, "the best, but too old"
        await journal.append(
            [line_event("apple apple"), line_event("one apple and a pear in a very long line of words")]
        )
        assert (await journal.search("apple", ranked=True, limit=1))[0].event.text == "apple apple"
        assert (await journal.search("apple", limit=1))[0].event.text.startswith("one apple")


@pytest.mark.anyio
async def test_a_search_that_takes_too_long_is_stopped_and_the_next_one_works(tmp_path: Path) -> None:
    async with Journal.open(tmp_path / "j") as journal:
        for _ in range(20):
            await journal.append(lines(1_000))
        with pytest.raises(DragomanError) as caught:
            await journal.search("line", kinds=["never"], timeout_s=0)
        assert caught.value.code == "query_timeout"
        assert len(await journal.search("line")) == 20


@pytest.mark.parametrize("query", ["", "   ", '"', '""', "*", "!!! ---", "?" * (QUERY_LIMIT_CHARACTERS + 1), "a " * 40])
def test_a_query_without_words_or_out_of_measure_is_refused_with_the_reason(query: str) -> None:
    with pytest.raises(DragomanError) as caught:
        fts_expression(query)
    assert caught.value.code == "bad_query"


@settings(max_examples=300, deadline=None)
@example('a" OR b')
@example("col:x NEAR(a b, 2) {x y}: ^")
@example("a* **")
@example("\x00a\ud800")
@example("²*")
@given(st.text(alphabet=st.one_of(st.characters(), st.sampled_from('"*()^:+-{}调试 ab')), max_size=60))
def test_nothing_that_a_person_can_type_is_a_syntax_error(query: str) -> None:
    connection = apsw.Connection(":memory:")
    connection.execute("create virtual table search using fts5 (text, prefix='2 3')")
    with suppress(DragomanError):  # no word in it: said so, which is not a syntax error
        words = fts_expression(query)
        connection.execute("select rowid from search where search match ?", (words,)).fetchall()
