"""Threads that are slow to leave a stop, and what debugpy then says that is not so.

It sends all threads on and tells so once, when the first has left, just before it answers. One that leaves only after
another has stopped again has it tell so a second time, though all stand by then; and since it has told that they left
this stop, it leaves the `continue` from it unanswered.
"""

from __future__ import annotations


class Latecomers:
    """Members by their place, of an adapter whose programs go on only when they are asked to."""

    def __init__(self) -> None:
        self._standing: set[int] = set()
        self._silent: set[int] = set()

    def stopped(self, member: int) -> None:
        self._standing.add(member)
        self._silent.discard(member)

    def is_late(self, member: int) -> bool:
        """Whether a `continued` of this moment belongs to a stop before: nobody has sent the member on from this."""
        if member not in self._standing:
            return False
        self._silent.add(member)
        return True

    def sent_on(self, member: int) -> None:
        self._standing.discard(member)

    def stays(self, member: int) -> None:
        self._standing.add(member)

    def answers(self, member: int, command: str) -> bool:
        """Whether it will; a step is answered in any case."""
        return command != "continue" or member not in self._silent

    def left(self, member: int) -> None:
        self._standing.discard(member)
        self._silent.discard(member)
