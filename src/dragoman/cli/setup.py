"""`dragoman setup`: connect the MCP clients on this machine, one question each; `--undo` disconnects them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from cyclopts import Parameter

from dragoman.cli.output import ExitCode, ask_yes, report, show_text, shown, tell
from dragoman.clients.command import find_command
from dragoman.clients.diffs import diff
from dragoman.clients.files import mentions_us
from dragoman.clients.machine import Machine, this_machine
from dragoman.clients.sentences import told
from dragoman.clients.table import CLIENTS
from dragoman.clients.wishes import Wish, installed_wishes, stdio_wish
from dragoman.clients.write import Writer
from dragoman.errors import DragomanError
from dragoman.phrases import Phrase, say


@dataclass(frozen=True, slots=True)
class Walk:
    """One way through the clients: connecting them, or disconnecting them."""

    wishes: list[Wish]
    removing: bool
    question: Callable[[Wish], Phrase]
    nothing: Phrase


def setup(
    *,
    yes: Annotated[bool, Parameter(negative="", help=shown(say("Change them all without asking.")))] = False,
    undo: Annotated[bool, Parameter(negative="", help=shown(say("Take our entry out of every client again.")))] = False,
) -> int:
    machine = this_machine()
    writer = Writer(machine=machine, now=datetime.now)
    walk = _undoing(machine) if undo else _connecting(machine)
    results = set(_walked(walk, writer, yes=yes))
    if not results:
        tell(walk.nothing)
    if results & {"added", "updated"}:
        tell(say("Restart the clients that were changed."))
    if results & {"added", "updated", "unchanged"}:
        tell(
            say("Then ask your agent, for example:"),
            say("  “Use dragoman to run the failing test in the debugger and tell me why it fails.”"),
        )
    return _exit_code(results)


def _exit_code(results: Set[str]) -> int:
    """A no to some of them is what the questions are for; a no to everything, or nobody to ask, is told to scripts."""
    if "failed" in results:
        return ExitCode.FAILED
    declined = "declined" in results and not results & {"added", "updated", "removed"}
    return ExitCode.DECLINED if declined else ExitCode.OK


def _connecting(machine: Machine) -> Walk:
    command = find_command(machine)
    if command.note:
        tell(command.note)
    return Walk(
        installed_wishes(machine, command),
        removing=False,
        question=lambda wish: say("Connect {client}?", client=wish.client.title),
        nothing=say("No MCP client was found. `dragoman client-config` lists those we know."),
    )


def _undoing(machine: Machine) -> Walk:
    """Every file that names us, whether its client is still here or not."""
    wishes = (stdio_wish(client, machine, find_command(machine)) for client in CLIENTS)
    return Walk(
        [wish for wish in wishes if wish.path and mentions_us(wish.path)],
        removing=True,
        question=lambda wish: say("Disconnect {client}?", client=wish.client.title),
        nothing=say("No client has our entry."),
    )


def _walked(walk: Walk, writer: Writer, *, yes: bool) -> Iterator[str]:
    """What came of each client; a failure of one does not stop the others."""
    may_ask = sys.stdin.isatty() and sys.stderr.isatty()
    waits = False
    for wish in walk.wishes:
        try:
            result = _one(walk, wish, writer, yes=yes, may_ask=may_ask)
        except DragomanError as error:
            report(error)
            result = "failed"
        waits = waits or result == "declined"
        yield result
    if waits and not may_ask:
        tell(say("Nothing was changed: this is not a terminal. `--yes` makes the changes shown."))


def _one(walk: Walk, wish: Wish, writer: Writer, *, yes: bool, may_ask: bool) -> str:
    plan = writer.plan(wish, removing=walk.removing)
    if plan.edited.text != plan.file.text:
        tell(say("{client}, {path}:", client=wish.client.title, path=wish.file))
        show_text("\n".join(diff(plan.file.text, plan.edited.text, public=wish.public_strings(plan.edited.before))))
        if not yes and not (may_ask and ask_yes(walk.question(wish))):
            return "declined"
    done = writer.remove(wish) if walk.removing else writer.write(wish)
    tell(*told(done))
    return done.change
