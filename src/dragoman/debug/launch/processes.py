"""What an attach names: a process that is there, that is ours, and that is not ourselves."""

from __future__ import annotations

import os

import psutil

from dragoman.debug.launch.faults import LaunchError, quoted
from dragoman.phrases import say


def require_process(key: str, value: object) -> None:
    """Before anything is started: a debugger's own words about it come late and say little."""
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise _no_number(key, value)
    try:
        process = psutil.Process(value)
        owner, is_dead = process.uids().effective, process.status() == psutil.STATUS_ZOMBIE
    except (psutil.NoSuchProcess, OverflowError, ValueError):
        raise _no_process(value) from None
    except psutil.AccessDenied:
        raise _of_another(value) from None
    if is_dead:
        raise _no_process(value)
    if value == os.getpid():
        raise _ourselves(value)
    if os.geteuid() not in (0, owner):
        raise _of_another(value)


def no_target() -> LaunchError:
    return LaunchError(
        "nothing_to_attach_to",
        say("The configuration does not say what to attach to."),
        hint=say("Give `process_id`, or write processId, or connect with host and port, into the configuration."),
        needs="process_id",
    )


def _no_number(key: str, value: object) -> LaunchError:
    return LaunchError(
        "bad_process_id",
        say("{key} must be the number of a process, not {value}.", key=key, value=quoted(value)),
        hint=say("Give `process_id`, and write {example} in the configuration.", example="${command:pickProcess}"),
    )


def _no_process(pid: int) -> LaunchError:
    return LaunchError(
        "no_such_process",
        say("There is no process {pid}.", pid=pid),
        hint=say("It may have ended; find the number of the running one, by `pgrep` for example."),
        process_id=pid,
    )


def _of_another(pid: int) -> LaunchError:
    return LaunchError(
        "foreign_process",
        say("The process {pid} belongs to another user.", pid=pid),
        hint=say("Only a process of your own can be attached to."),
        process_id=pid,
    )


def _ourselves(pid: int) -> LaunchError:
    return LaunchError(
        "own_process",
        say("The process {pid} is the daemon itself, which would stop before it could say so.", pid=pid),
        hint=say("Name another process."),
        process_id=pid,
    )
