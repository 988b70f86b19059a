"""What the database's failures mean to a caller: one table, one place."""

from __future__ import annotations

import errno
import os

import apsw

from dragoman.errors import DragomanError
from dragoman.phrases import Phrase, say

CORRUPT = (apsw.CorruptError, apsw.NotADBError)

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT}


def disk_full() -> DragomanError:
    return DragomanError(
        "disk_full",
        say("The disk is full: nothing more can be recorded. What was acknowledged is safe."),
        hint=say("Free some space; recording goes on by itself."),
    )


def io_failed(reason: object) -> DragomanError:
    return DragomanError(
        "journal_io_failed",
        say("The journal could not be read or written: {reason}.", reason=reason),
        hint=say("Check the disk that holds the journal."),
    )


def closed() -> DragomanError:
    return DragomanError("journal_closed", say("The journal is closed."), hint=say("Start Dragoman again."))


def _corrupt(error: apsw.Error) -> DragomanError:
    return DragomanError(
        "journal_corrupt",
        say("The journal's file is damaged: {reason}.", reason=error),
        hint=say("It is set aside under a dated name, and a fresh journal begins; try again."),
    )


def _simple(code: str, message: Phrase, hint: Phrase) -> DragomanError:
    return DragomanError(code, message, hint=hint)


def translated(error: apsw.Error, connection: apsw.Connection | None = None) -> DragomanError:
    """SQLite says FULL only when a write fails so; a failed sync or map needs the system's own error number."""
    if isinstance(error, CORRUPT):
        return _corrupt(error)
    if isinstance(error, apsw.FullError) or _system_errno(connection) in _NO_ROOM:
        return disk_full()
    if isinstance(error, apsw.InterruptError):
        return _simple(
            "query_timeout",
            say("The search took too long and was stopped."),
            say("Use a rarer word, or name a session."),
        )
    if isinstance(error, (apsw.BusyError, apsw.LockedError)):
        return _simple(
            "journal_busy",
            say("The journal is busy, or another process holds it."),
            say("Try again; if it stays so, look for a second daemon."),
        )
    if isinstance(error, (apsw.ConstraintError, apsw.SQLError, apsw.MismatchError)):
        return _simple(
            "journal_refused",
            say("The journal refused a statement: {reason}.", reason=error),
            say("Nothing of that call was written; this is a fault of Dragoman, please report it."),
        )
    return io_failed(error)


def _system_errno(connection: apsw.Connection | None) -> int:
    try:
        return connection.system_errno if connection is not None else 0
    except apsw.ConnectionClosedError:
        return 0


def translated_os(error: OSError) -> DragomanError:
    return disk_full() if error.errno in _NO_ROOM else io_failed(os.strerror(error.errno or errno.EIO))
