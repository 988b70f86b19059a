"""Putting our entry into a client's configuration, and taking it out again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from dragoman.clients.command import NAME
from dragoman.clients.edits import Change, Edited, snippet, with_entry, without_entry
from dragoman.clients.files import ConfigFile, StaleError, read_config, replace_config
from dragoman.clients.machine import Machine
from dragoman.clients.own_commands import DEADLINE_S, run_own_command
from dragoman.clients.refusals import RefusedError
from dragoman.clients.table import Client
from dragoman.clients.wishes import Wish
from dragoman.errors import DragomanError
from dragoman.phrases import Phrase, say
from dragoman.transport.system import REAL_SYSTEM, System

_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Plan:
    file: ConfigFile
    edited: Edited


@dataclass(frozen=True, slots=True)
class Outcome:
    client: Client
    path: Path
    change: Change
    backup: Path | None = None
    own_command: tuple[str, ...] = ()
    own_failure: Phrase | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """Everything a write needs from outside: the machine, the time and the system calls."""

    machine: Machine
    now: Callable[[], datetime]
    system: System = REAL_SYSTEM
    deadline_s: float = DEADLINE_S

    def plan(self, wish: Wish, *, removing: bool = False) -> Plan:
        """What a write, or a removal, would do, without doing it."""
        try:
            file = read_config(wish.file)
            if removing:
                return Plan(file, without_entry(wish.client, file.text))
            return Plan(file, with_entry(wish.client, file.text, wish.entry, wish.transport))
        except RefusedError as refusal:
            raise _left_alone(wish, refusal, removing=removing) from refusal

    def write(self, wish: Wish) -> Outcome:
        """Idempotent. A first entry is added by the client's own command where there is one; all else by us."""
        if self.plan(wish).edited.change != "added" or not self._has_command(wish):
            return self._carry_out(wish, removing=False)
        failure = run_own_command(wish.own_command, self.machine, deadline_s=self.deadline_s, system=self.system)
        if failure is None and self.plan(wish).edited.change == "unchanged":
            return Outcome(wish.client, wish.file, "added", own_command=wish.own_command)
        failure = failure or say("it reported success, but the entry is not there")
        done = self._carry_out(wish, removing=False)
        return replace(done, own_command=wish.own_command, own_failure=failure)

    def remove(self, wish: Wish) -> Outcome:
        return self._carry_out(wish, removing=True)

    def _has_command(self, wish: Wish) -> bool:
        return bool(wish.own_command) and self.machine.which(wish.own_command[0]) is not None

    def _carry_out(self, wish: Wish, *, removing: bool) -> Outcome:
        """Clients write these files too: when one did in between, start again from what it wrote."""
        for _ in range(_ATTEMPTS):
            plan = self.plan(wish, removing=removing)
            if plan.edited.change in {"unchanged", "absent"}:
                return Outcome(wish.client, wish.file, plan.edited.change)
            try:
                data = plan.file.encoded(plan.edited.text)
                backup = replace_config(plan.file, data, now=self.now(), system=self.system)
                return Outcome(wish.client, wish.file, plan.edited.change, backup=backup)
            except StaleError:
                continue
            except RefusedError as refusal:
                raise _left_alone(wish, refusal, removing=removing) from refusal
        busy = RefusedError(say("something else keeps writing to it"))
        raise _left_alone(wish, busy, removing=removing)


def _left_alone(wish: Wish, refusal: RefusedError, *, removing: bool) -> DragomanError:
    by_hand = (
        say("Repair it and run this again, or take the entry {name} out of it by hand.", name=NAME)
        if removing
        else say(
            "Repair it and run this again, or put this into it by hand:\n{snippet}",
            snippet=snippet(wish.client, wish.shown),
        )
    )
    return DragomanError(
        "client_config_left_alone",
        say("{path} was left as it is: {reason}.", path=wish.file, reason=refusal.reason),
        hint=by_hand,
    )
