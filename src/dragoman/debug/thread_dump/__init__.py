"""Thread dumps: where every thread of a program is and what it waits for."""

from dragoman.debug.thread_dump.dumper import ThreadDumper
from dragoman.debug.thread_dump.model import DumpedThread, LockHolder, ThreadDump

__all__ = ["DumpedThread", "LockHolder", "ThreadDump", "ThreadDumper"]
