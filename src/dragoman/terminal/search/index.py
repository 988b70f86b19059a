"""The full-text index of output: which words are on which line of a stream. It is derived data and can be rebuilt at
any time.

The index keeps no text. A block with a matching line is read again from the stream, which also covers output that was
forgotten meanwhile. Each line is one row, so two common words that never occur together cost no read. Rows are kept in
shards of a million: the newest shard is searched first, old data goes with its whole shard, and no query or merge grows
with the record. Each shard lists its words (`vocabulary`), so that a part of a word can be expanded to the words that
contain it.
"""

from __future__ import annotations

import logging
import os
import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import msgspec

from dragoman.core.clock import Clock
from dragoman.io.files.private_files import ensure_private_folder
from dragoman.io.files.system_calls import SystemCalls
from dragoman.journal import RecordPlace
from dragoman.journal.database import DamagedError, connect, deadline, open_or_create, open_reader, remove

log = logging.getLogger(__name__)

_VERSION = 3
NEWEST = 1 << 62
_SHARD_BITS = 20
_SHARD_ROWS = 1 << _SHARD_BITS
# Words are gathered in memory and written rarely: fewer pieces mean less repeated merging.
_HASH_BYTES = 16 * 1024 * 1024
# With a terminal's number behind it, this makes a word that no line contains: an unused character that is not a
# separator.
_TERMINAL_MARK = "\ue000"
_PRAGMAS = (
    "page_size=16384",
    "journal_mode=wal",
    "synchronous=normal",
    "secure_delete=on",
    "temp_store=memory",
    "cache_size=-16000",
    "journal_size_limit=16777216",
)
_SCHEMA = f"""
create table blocks (n integer primary key, lines integer not null, terminal text not null, segment integer not null,
    offset integer not null, until_segment integer not null, until_offset integer not null, low integer not null,
    high integer not null, at_ns integer not null, carry blob not null);
create index blocks_by_place on blocks (terminal, segment);
create table shards (n integer primary key, rows integer not null);
create table vocabulary (shard integer not null, words text not null);
create index vocabulary_by_shard on vocabulary (shard);
create table reach (n integer primary key, terminal text not null unique, segment integer not null,
    offset integer not null, at_ns integer not null, carry blob not null);
pragma user_version={_VERSION};
"""
# Rows only, without positions: half the size, and faster to build.
_SHARD = """
create virtual table words{n} using fts5 (text, content='', columnsize=0, detail=none,
    tokenize='unicode61 remove_diacritics 0');
insert into words{n} (words{n}, rank) values ('hashsize', {hash_bytes}), ('automerge', 8);
"""
# All lines of a block in one SQLite step, which runs without Python's lock: a busy event loop cannot starve it.
_ADD_LINES = "insert into words{n} (rowid, text) select ? + key, value || ? from json_each(?) where value <> ''"
_FIND = """select b.*, w.rowid from words{n} w cross join blocks b
    on b.n = (select max(n) from blocks where n <= w.rowid)
    where w.words{n} match ? and w.rowid < ? order by w.rowid desc"""
_FAULTS = (apsw.CorruptError, apsw.NotADBError, apsw.SQLError, apsw.IOError, apsw.CantOpenError, DamagedError)


class IndexBlock(NamedTuple):
    """A part of one terminal's output, between two places. `carry` is the unfinished line that it continues."""

    terminal: str
    start: RecordPlace
    until: RecordPlace
    low: int
    high: int
    """Which bytes of its one frame, if that is long."""
    at_ns: int
    carry: bytes


class IndexPosition(NamedTuple):
    """How far a stream is indexed, and the incomplete line at that place."""

    place: RecordPlace = RecordPlace()
    at_ns: int = 0
    carry: bytes = b""


class IndexQuery(NamedTuple):
    expression: str
    terminal: str = ""
    besides: Set[str] = frozenset()
    parts: tuple[str, ...] = ()
    """Each must be in the line too, as a word or inside one."""


class IndexCandidates(NamedTuple):
    """Blocks with a line that contains all the words, newest first, and the row number below which nothing was
    searched."""

    blocks: list[IndexBlock]
    below: int
    whole: bool = True
    """Whether every word that contains a part was searched: there may be too many."""


@dataclass(slots=True)
class _ConnectionSlot:
    """A connection and its lock."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    connection: apsw.Connection | None = None

    def shut(self) -> None:
        if self.connection is not None:
            with suppress(apsw.Error):
                self.connection.close(True)
            self.connection = None


class OutputIndex:
    """The full-text index in its own SQLite file. Thread-safe: readers have a connection of their own and never wait
    for the writer."""

    def __init__(self, folder: Path, clock: Clock, *, system: SystemCalls) -> None:
        self._path = ensure_private_folder(folder) / "output.db"
        self._clock = clock
        self._system = system
        self._reader, self._writer = _ConnectionSlot(), _ConnectionSlot()  # both locks are always taken in this order
        self._vocabulary = Vocabulary()
        self.generation = 0
        """Changes when the index is reset. What was read for the old one must not go into the new one."""

    def reaches(self) -> dict[str, IndexPosition]:
        with self._use(self._writer) as connection:
            rows: list[Any] = connection.execute("select terminal, segment, offset, at_ns, carry from reach").fetchall()
        return {
            name: IndexPosition(RecordPlace(segment, offset), at_ns, carry)
            for name, segment, offset, at_ns, carry in rows
        }

    def add(
        self, generation: int, terminal: str, blocks: Iterable[tuple[IndexBlock, str]], reach: IndexPosition
    ) -> None:
        with self._use(self._writer) as connection:
            if generation != self.generation:
                return
            try:
                with connection:
                    self._add(connection, terminal, blocks, reach)
            except BaseException:  # rolled back, so nothing counts as written
                self._vocabulary = Vocabulary()
                raise

    def _add(
        self, connection: apsw.Connection, terminal: str, blocks: Iterable[tuple[IndexBlock, str]], reach: IndexPosition
    ) -> None:
        place = (terminal, *reach.place, reach.at_ns, reach.carry)
        number = connection.execute(
            """insert into reach (terminal, segment, offset, at_ns, carry) values (?, ?, ?, ?, ?) on conflict do
            update set segment = excluded.segment, offset = excluded.offset, at_ns = excluded.at_ns,
            carry = excluded.carry returning n""",
            place,
        ).get
        for block, text in blocks:
            shard = _add_lines(connection, block, text.split("\n"), number)
            self._vocabulary.add(connection, shard, text)

    def find(self, query: IndexQuery, below: int, limit: int, timeout_s: float) -> IndexCandidates:
        """Hits from the newest shard that has any."""
        whole = True
        with self._use(self._reader) as connection, deadline(connection, self._clock, timeout_s):
            narrowing = _narrowing(connection, query)
            shards: list[Any] = connection.execute("select n from shards order by n desc").fetchall()
            for (shard,) in shards:
                if narrowing is not None and shard << _SHARD_BITS < below:
                    parts = [expand_part(connection, shard, part) for part in query.parts]
                    whole = whole and all(is_all for _, is_all in parts)
                    terms = [*filter(None, [query.expression]), *(words for words, _ in parts)]
                    match = f"({' AND '.join(terms)}){narrowing}"
                    found = _blocks(connection.execute(_FIND.format(n=shard), (match, below)), limit)
                    if found.blocks:
                        return found._replace(whole=whole)
        return IndexCandidates([], 0, whole)

    def drop_retired(self, standing: Mapping[str, Sequence[int]]) -> None:
        """Drop blocks whose files are gone; each stream loses its oldest files first. Words go with their whole
        shard."""
        with self._use(self._writer) as connection, connection:
            known: list[Any] = connection.execute("select terminal from reach").fetchall()
            for (terminal,) in known:
                oldest = min(standing.get(terminal, ()), default=NEWEST)
                connection.execute("delete from blocks where terminal = ? and segment < ?", (terminal, oldest))
                if terminal not in standing:
                    connection.execute("delete from reach where terminal = ?", (terminal,))
            _drop_empty_shards(connection)

    def reset(self) -> None:
        """Start a new index from what is left: forgotten words must be in no file."""
        with self._reader.lock, self._writer.lock:
            self._discard()

    def close(self) -> None:
        with self._reader.lock, self._writer.lock:
            self._reader.shut()
            self._writer.shut()

    @contextmanager
    def _use(self, slot: _ConnectionSlot) -> Iterator[apsw.Connection]:
        generation = self.generation
        try:
            with slot.lock:
                generation = self.generation
                yield self._connected(slot)
        except _FAULTS as error:
            log.warning("the index of output is made again: %s", error)
            with self._reader.lock, self._writer.lock:
                if generation == self.generation:
                    self._discard()
            raise

    def _connected(self, slot: _ConnectionSlot) -> apsw.Connection:
        if slot.connection is None:
            with ExitStack() as stack:
                if slot is self._reader:  # so that readers always open a complete file
                    stack.enter_context(self._writer.lock)
                    self._writer.connection = self._writer.connection or self._opened()
                    slot.connection = open_reader(self._path, None)
                else:
                    slot.connection = self._opened()
        return slot.connection

    def _opened(self) -> apsw.Connection:
        try:
            return self._open()
        except _FAULTS as error:
            log.warning("the index of output is made again: %s", error)
            self._writer.shut()
            remove(self._path)
            self._vocabulary = Vocabulary()
            self.generation += 1
            return self._open()

    def _open(self) -> apsw.Connection:
        os.close(open_or_create(self._path, system=self._system))
        connection = connect(self._path, None, apsw.SQLITE_OPEN_READWRITE, _PRAGMAS)
        try:
            version = connection.pragma("user_version")
            if version == 0:
                with connection:
                    connection.execute(_SCHEMA)
            elif version != _VERSION:
                raise DamagedError(f"it has version {version}")
            connection.execute("select count(*) from reach").fetchall()
        except BaseException:
            connection.close(True)
            raise
        return connection

    def _discard(self) -> None:
        self._reader.shut()
        self._writer.shut()
        remove(self._path)
        self._vocabulary = Vocabulary()
        self.generation += 1


def _add_lines(connection: apsw.Connection, block: IndexBlock, lines: list[str], terminal: int) -> int:
    """Add lines; return the shard they went to."""
    first = _allocate_rows(connection, len(lines))
    row = (first, len(lines), block.terminal, *block.start, *block.until, *block[3:])
    connection.execute("insert into blocks values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    words = msgspec.json.encode(lines).decode()
    shard = first >> _SHARD_BITS
    connection.execute(_ADD_LINES.format(n=shard), (first, f" {_TERMINAL_MARK}{terminal}", words))
    return shard


def _allocate_rows(connection: apsw.Connection, rows: int) -> int:
    """Allocate rows in one shard; return the number of the first."""
    newest: Any = connection.execute("select n, rows from shards order by n desc limit 1").fetchone()
    shard, used = newest or (0, _SHARD_ROWS)
    if used + rows > _SHARD_ROWS:
        shard, used = shard + 1, 0
        connection.execute(_SHARD.format(n=shard, hash_bytes=_HASH_BYTES))
    connection.execute("replace into shards values (?, ?)", (shard, used + rows))
    return int(shard << _SHARD_BITS) + int(used)


def _narrowing(connection: apsw.Connection, query: IndexQuery) -> str | None:
    """The terminals to search, as words behind the others; None if nothing can match."""
    known: list[Any] = connection.execute("select terminal, n from reach").fetchall()
    numbers = dict(known)
    if query.terminal:
        number = numbers.get(query.terminal)
        return None if number is None else f' AND "{_TERMINAL_MARK}{number}"'
    besides = [f'"{_TERMINAL_MARK}{numbers[name]}"' for name in query.besides if name in numbers]
    return f" NOT ({' OR '.join(besides)})" if besides else ""


def _blocks(rows: Iterable[Any], limit: int) -> IndexCandidates:
    """Each block once, however many of its lines match."""
    blocks: list[IndexBlock] = []
    below = 0
    for first, lines, terminal, *numbers, at_ns, carry, line in rows:
        if first == below or line >= first + lines:  # a duplicate, or no longer kept
            continue
        if len(blocks) == limit:
            break
        segment, offset, until_segment, until_offset, low, high = numbers
        places = RecordPlace(segment, offset), RecordPlace(until_segment, until_offset)
        blocks.append(IndexBlock(terminal, *places, low, high, at_ns, carry))
        below = first
    return IndexCandidates(blocks, below)


def _drop_empty_shards(connection: apsw.Connection) -> None:
    """Drop empty shards except the newest, to which lines are still added."""
    empty: list[Any] = connection.execute(
        """select n from shards s where n < (select max(n) from shards) and not exists
        (select 1 from blocks where n >= s.n << ? and n < (s.n + 1) << ?)""",
        (_SHARD_BITS, _SHARD_BITS),
    ).fetchall()
    for (shard,) in empty:
        connection.execute(f"drop table words{shard}")
        connection.execute("delete from shards where n = ?", (shard,))
        connection.execute("delete from vocabulary where shard = ?", (shard,))


# The words of one index shard, so that a part of a word finds the words that contain it.
#
# 100 MB of output have about ten thousand distinct words. Scanning them takes a millisecond; an index of all
# substrings would be several times as large as the output. Hashes and numbers are unbounded, so only their leading
# letters are kept, as a prefix.

_SHORTEST_PART = 3
_LONGEST_WORD = 40
_WORDS_IN_MEMORY = 50_000
_ALTERNATIVES = 1_000
_DIGITS = b"0123456789"
_MOST_DIGITS = 3
_FOLDED = bytes(code if chr(code).isalnum() and code < 128 else 32 for code in bytes(range(256)).lower())
_WORD = re.compile(r"[^\W_]+")
# Letters that SQLite also treats as letters in any Unicode version: two words in one quotation would be an error.
_LETTERS = "a-zß-öø-ɏа-ӿ"
_FEW_DIGITS = re.compile(f"[{_LETTERS}]*(?:[0-9][{_LETTERS}]*){{0,{_MOST_DIGITS}}}")
_STEM = re.compile(f"[{_LETTERS}]{{{_SHORTEST_PART},{_LONGEST_WORD}}}")


class Vocabulary:
    """The listed words of the newest shard. Its memory is bounded, so some words are listed twice."""

    def __init__(self) -> None:
        self._shard = -1
        self._known: set[bytes] = set()

    def add(self, connection: apsw.Connection, shard: int, text: str) -> None:
        if shard != self._shard or len(self._known) > _WORDS_IN_MEMORY:
            self._shard, self._known = shard, set()
        fresh = set(_entries(text, self._known)) - self._known
        if fresh:
            self._known |= fresh
            joined = b"\n".join((b"", *fresh, b"")).decode()
            connection.execute("insert into vocabulary values (?, ?)", (shard, joined))


def may_be_inside(word: str) -> bool:
    """Whether the part may match inside a word; otherwise it matches only at the start."""
    return _SHORTEST_PART <= len(word) <= _LONGEST_WORD and _FEW_DIGITS.fullmatch(word) is not None


def expand_part(connection: apsw.Connection, shard: int, part: str) -> tuple[str, bool]:
    """The words of a shard that contain the part, as an expression, and whether the list is complete."""
    if not may_be_inside(part):
        return f'("{part}"*)', True
    rows = connection.execute("select words from vocabulary where shard = ? and instr(words, ?)", (shard, part))
    having = (entry for (listed,) in rows for entry in _words_with(part, str(listed)))
    found = dict.fromkeys(islice(having, _ALTERNATIVES))
    # Words with many digits are listed by their first letters only, so a part with a digit is also searched as a
    # prefix.
    words = [_quoted(part if _STEM.fullmatch(part) else f"{part}*"), *map(_quoted, found)]
    return f"({' OR '.join(words)})", len(found) < _ALTERNATIVES


def _entries(text: str, known: Set[bytes]) -> Iterator[bytes]:
    """The entries for its words. Few words of a line are new, so they are compared as bytes first."""
    if not text.isascii():
        yield from (entry.encode() for word in set(_WORD.findall(text.lower())) if (entry := _entry(word)))
        return
    for word in set(text.encode().translate(_FOLDED).split()) - known:
        if len(word) <= _SHORTEST_PART:
            continue
        if len(word) <= _LONGEST_WORD and len(word) - len(word.translate(None, _DIGITS)) <= _MOST_DIGITS:
            yield word
        elif word[:_SHORTEST_PART].isalpha():
            yield _entry(word.decode()).encode()


def _entry(word: str) -> str:
    """Empty if the word cannot be matched by a part."""
    if len(word) <= _SHORTEST_PART:
        return ""
    if may_be_inside(word):
        return word
    stem = _STEM.match(word)
    return f"{stem[0]}*" if stem else ""


def _quoted(entry: str) -> str:
    return f'"{entry[:-1]}"*' if entry.endswith("*") else f'"{entry}"'


def _words_with(part: str, words: str) -> Iterator[str]:
    at = words.find(part)
    while at >= 0:
        start, end = words.rfind("\n", 0, at) + 1, words.find("\n", at)
        yield words[start:end]
        at = words.find(part, end)
