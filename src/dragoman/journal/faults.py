"""What the database's failures mean to a caller: one table, one place."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable

import apsw

from dragoman.errors import DragomanError, disk_full, journal_io_failed
from dragoman.phrases import say

CORRUPT = (apsw.CorruptError, apsw.NotADBError)

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT}


def closed() -> DragomanError:
    return DragomanError("journal_closed", say("The journal is closed."), hint=say("Start Dragoman again."))


def _corrupt(error: apsw.Error) -> DragomanError:
    return DragomanError(
        "journal_corrupt",
        say("The journal's file is damaged: {reason}.", reason=error),
        hint=say("It is set aside under a dated name, and a fresh journal begins; try again."),
    )


def _timeout(_: apsw.Error) -> DragomanError:
    return DragomanError(
        "query_timeout",
        say("The search took too long and was stopped."),
        hint=say("Use a rarer word, or more words."),
    )


def _busy(_: apsw.Error) -> DragomanError:
    return DragomanError(
        "journal_busy",
        say("The journal is busy, or another process holds it."),
        hint=say("Try again; if it stays so, look for a second daemon."),
    )


def _refused(error: apsw.Error) -> DragomanError:
    return DragomanError(
        "journal_refused",
        say("The journal refused a statement: {reason}.", reason=error),
        hint=say("Nothing of that call was written; this is a fault of Dragoman, please report it."),
    )


_MEANINGS: dict[type[apsw.Error], Callable[[apsw.Error], DragomanError]] = {
    apsw.CorruptError: _corrupt,
    apsw.NotADBError: _corrupt,
    apsw.FullError: lambda _: disk_full(),
    apsw.InterruptError: _timeout,
    apsw.BusyError: _busy,
    apsw.LockedError: _busy,
    apsw.ConstraintError: _refused,
    apsw.SQLError: _refused,
    apsw.MismatchError: _refused,
    apsw.ReadOnlyError: _refused,
}


def translated(error: apsw.Error, connection: apsw.Connection | None = None) -> DragomanError:
    """SQLite says FULL only when a write fails so; a failed sync or map needs the system's own error number."""
    meaning = _MEANINGS.get(type(error))
    if meaning is not None:
        return meaning(error)
    return disk_full() if _system_errno(connection) in _NO_ROOM else journal_io_failed(error)


def _system_errno(connection: apsw.Connection | None) -> int:
    try:
        return connection.system_errno if connection is not None else 0
    except apsw.ConnectionClosedError:
        return 0


def translated_os(error: OSError) -> DragomanError:
    return disk_full() if error.errno in _NO_ROOM else journal_io_failed(os.strerror(error.errno or errno.EIO))
