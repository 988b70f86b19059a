"""Where every thread of a program is and what it waits for: the answer to "where does it hang?"."""

from dragoman.debug.thread_dump.dumper import ThreadDumper
from dragoman.debug.thread_dump.model import DumpedThread, Held, ThreadDump

__all__ = ["DumpedThread", "Held", "ThreadDump", "ThreadDumper"]
