"""What errors of the database mean to a caller, in one table."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable

import apsw

from dragoman.core.errors import (
    DragomanError,
    ErrorSpec,
    disk_full,
    journal_io_failed,
)

CORRUPT = (apsw.CorruptError, apsw.NotADBError)

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT}


journal_closed = ErrorSpec("journal_closed", "The journal is closed.", "Restart Dragoman.")
_corrupt = ErrorSpec(
    "journal_corrupt",
    "The journal file is damaged: {reason}.",
    "The damaged file is kept under a dated name and a new journal is created. Try again.",
    reason=str,
)
_timeout = ErrorSpec("query_timeout", "The search took too long and was stopped.", "Use rarer words or more words.")
_busy = ErrorSpec(
    "journal_busy",
    "The journal is busy or locked by another process.",
    "Try again. If it keeps failing, check for a second daemon.",
)
_refused = ErrorSpec(
    "journal_refused",
    "The journal rejected a statement: {reason}.",
    "Nothing was written. This is a bug in Dragoman; please report it.",
    reason=str,
)
not_json = ErrorSpec(
    "event_not_json",
    "Cannot encode the event body as JSON: {reason}.",
    "Use only objects, lists, strings, numbers, booleans and null.",
)
bad_query = ErrorSpec(
    "bad_query",
    "Invalid search: {reason}.",
    'Pass one or more words. Use "quotes" for a phrase and a trailing * for a prefix.',
)
record_gone = ErrorSpec(
    "span_gone", "This part of {stream} is no longer available.", "It was erased or has exceeded the retention limit."
)
record_damaged = ErrorSpec(
    "span_damaged", "Part of {stream} is damaged on disk.", "Check the disk where the journal is stored."
)
too_new = ErrorSpec(
    "journal_too_new",
    "The journal was written by a newer version of Dragoman.",
    "Upgrade Dragoman, or set DRAGOMAN_HOME to another folder.",
)

_MEANINGS: dict[type[apsw.Error], Callable[[apsw.Error], DragomanError]] = {
    apsw.CorruptError: lambda error: _corrupt(reason=error),
    apsw.NotADBError: lambda error: _corrupt(reason=error),
    apsw.FullError: lambda _: disk_full(),
    apsw.InterruptError: lambda _: _timeout(),
    apsw.BusyError: lambda _: _busy(),
    apsw.LockedError: lambda _: _busy(),
    apsw.ConstraintError: lambda error: _refused(reason=error),
    apsw.SQLError: lambda error: _refused(reason=error),
    apsw.MismatchError: lambda error: _refused(reason=error),
    apsw.ReadOnlyError: lambda error: _refused(reason=error),
}


def translate_sqlite_error(error: apsw.Error, connection: apsw.Connection | None = None) -> DragomanError:
    """SQLite reports FULL only for a failed write; for a failed sync or map, the system's error number decides."""
    meaning = _MEANINGS.get(type(error))
    if meaning is not None:
        return meaning(error)
    return disk_full() if _system_errno(connection) in _NO_ROOM else journal_io_failed(reason=error)


def _system_errno(connection: apsw.Connection | None) -> int:
    try:
        return connection.system_errno if connection is not None else 0
    except apsw.ConnectionClosedError:
        return 0


def translate_os_error(error: OSError) -> DragomanError:
    return disk_full() if error.errno in _NO_ROOM else journal_io_failed(reason=os.strerror(error.errno or errno.EIO))
