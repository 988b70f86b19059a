"""Putting our entry into a client's configuration, and taking it out again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from dragoman.clients.edits import Change, Edited, snippet, with_entry, without_entry
from dragoman.clients.entries import Entry, Transport
from dragoman.clients.files import ConfigFile, StaleError, read_config, replace_config
from dragoman.clients.machine import Machine
from dragoman.clients.own_commands import DEADLINE_S, run_own_command
from dragoman.clients.refusals import RefusedError
from dragoman.clients.table import Client
from dragoman.errors import DragomanError
from dragoman.phrases import Phrase, say
from dragoman.transport.system import REAL_SYSTEM, System

_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Wish:
    """What should stand in which file. `shown` is the same entry without secrets, for messages."""

    client: Client
    path: Path
    transport: Transport
    entry: Entry
    shown: Entry
    own_command: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    file: ConfigFile
    edited: Edited

    @property
    def old_text(self) -> str:
        return self.file.text


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

    def plan(self, wish: Wish) -> Plan:
        """What a write would do, without doing it."""
        return self._edit(wish, lambda text: with_entry(wish.client, text, wish.entry, wish.transport))

    def plan_removal(self, wish: Wish) -> Plan:
        return self._edit(wish, lambda text: without_entry(wish.client, text))

    def write(self, wish: Wish) -> Outcome:
        """Idempotent. A first entry is added by the client's own command where there is one; all else by us."""
        first = self.plan(wish)
        failure = None
        if first.edited.change == "added" and self._has_command(wish):
            failure = run_own_command(wish.own_command, self.machine, deadline_s=self.deadline_s, system=self.system)
            if failure is None and self.plan(wish).edited.change == "unchanged":
                return Outcome(wish.client, wish.path, "added", own_command=wish.own_command)
            failure = failure or say("it reported success, but the entry is not there")
        return replace(
            self._carry_out(wish, self.plan), own_command=wish.own_command if failure else (), own_failure=failure
        )

    def remove(self, wish: Wish) -> Outcome:
        return self._carry_out(wish, self.plan_removal)

    def _has_command(self, wish: Wish) -> bool:
        return bool(wish.own_command) and self.machine.which(wish.own_command[0]) is not None

    def _edit(self, wish: Wish, edit: Callable[[str], Edited]) -> Plan:
        try:
            file = read_config(wish.path)
            return Plan(file, edit(file.text))
        except RefusedError as refusal:
            raise _left_alone(wish, refusal) from refusal

    def _carry_out(self, wish: Wish, planner: Callable[[Wish], Plan]) -> Outcome:
        """Clients write these files too: when one did in between, start again from what it wrote."""
        for _ in range(_ATTEMPTS):
            plan = planner(wish)
            if plan.edited.text == plan.old_text:
                return Outcome(wish.client, wish.path, plan.edited.change)
            try:
                return self._replace(wish, plan)
            except StaleError:
                continue
            except RefusedError as refusal:
                raise _left_alone(wish, refusal) from refusal
        raise _left_alone(wish, RefusedError(say("something else keeps writing to it")))

    def _replace(self, wish: Wish, plan: Plan) -> Outcome:
        data = plan.file.encoded(plan.edited.text)
        backup = replace_config(plan.file, data, now=self.now(), system=self.system)
        return Outcome(wish.client, wish.path, plan.edited.change, backup=backup)


def _left_alone(wish: Wish, refusal: RefusedError) -> DragomanError:
    return DragomanError(
        "client_config_left_alone",
        say(
            "{path} was left as it is: {reason}.",
            path=wish.path,
            reason=refusal.reason,
        ),
        hint=say(
            "Repair it and run this again, or put this into it by hand:\n{snippet}",
            snippet=snippet(wish.client, wish.shown),
        ),
    )
