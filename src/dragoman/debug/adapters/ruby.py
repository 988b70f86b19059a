"""Ruby by rdbg, the debugger inside the program: it listens on a private socket, and we attach."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dragoman.debug import suffixes
from dragoman.debug.adapters.finding import require_adapter
from dragoman.debug.adapters.spec import AdapterSpec, Address, Situation
from dragoman.debug.dialect import Dialect
from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.transport.command import Command

# Into a pipe Ruby writes in blocks: what was printed before a stop would come after it.
_UNBUFFERED = Path(__file__).with_name("unbuffered.rb")
_NOISE = re.compile(r"DEBUGGER: ")
# What an expression that failed answers with, as if it were a value.
_FAILURES = frozenset(
    {
        *("NameError", "NoMethodError", "SyntaxError", "TypeError", "ArgumentError", "ZeroDivisionError"),
        *("RuntimeError", "StandardError", "KeyError", "IndexError", "RangeError", "FrozenError", "LocalJumpError"),
    }
)


def _command(situation: Situation) -> Command:
    adapter = require_adapter("ruby", situation.searched)
    argv = [str(adapter), "--open", f"--sock-path={situation.at}", "-c", "--", *_program(situation)]
    cwd = situation.workspace / str(situation.arguments.get("cwd") or "")
    # Stops at what nothing rescues, with the frames that raised it; it has no filter for that.
    environment = {"RUBY_DEBUG_POSTMORTEM": "true", **situation.environment}
    return Command(argv, environment, Path(os.path.normpath(cwd)))


def _program(situation: Situation) -> list[str]:
    """Both extensions' keys: `script` of rdbg's, `program` of the other and of ours; `command` for what wraps Ruby."""
    given = situation.arguments
    script = str(given.get("program") or given.get("script") or "")
    starts = given.get("command") or "ruby"
    words = [str(word) for word in starts] if isinstance(starts, list) else str(starts).split()
    args = given.get("args") or []
    if words == ["ruby"]:
        words += ["-r", str(_UNBUFFERED)]
    return [*words, script, *(args.split() if isinstance(args, str) else map(str, args))]


def _arguments(situation: Situation) -> dict[str, Any]:
    """It knows no launch: the program is there when we come, and waits."""
    if situation.request == "attach" and _listens_already(situation) is None:
        raise DragomanError(
            "cannot_attach",
            say("A Ruby program can be attached to only where it listens for a debugger."),
            hint=say("Start it with `rdbg --open --port PORT FILE`, then attach with that port in `debugPort`."),
        )
    return {"localfs": True}


def _listens_already(situation: Situation) -> Address | None:
    told = situation.arguments.get("debugPort", situation.arguments.get("port"))
    if situation.request != "attach" or not isinstance(told, int | str):
        return None
    host, _, port = str(told).rpartition(":")
    return Address(host or "127.0.0.1", int(port)) if port.isascii() and port.isdecimal() else None


def _facts(situation: Situation) -> Mapping[str, str]:
    return {} if _listens_already(situation) else {"adapter": str(require_adapter("ruby", situation.searched))}


RUBY = AdapterSpec(
    name="ruby",
    types=frozenset({"rdbg", "ruby", "Ruby", "ruby_lsp"}),
    adapter_id="rdbg",
    transport="unix",
    command=_command,
    arguments=_arguments,
    dialect=Dialect(
        calls_bare=True,
        suffixes=suffixes.RUBY,
        hit_forms=frozenset(),
        or_word="||",
        takes_log_messages=False,
        holds="!!({condition})",
        forgets="DEBUGGER__::SESSION.delete_bp",
        assigns="{name} = ({value})",
        raised_local="_raised",
        shows_raised=r"(?s)#<[\w:]+: (?P<message>.*?)>?",
        sourceless=r"\[C\] ",  # told with the place of its caller
        out_ends_inside=True,
        failure_types=_FAILURES,
        stops_unasked=frozenset({"pause"}),
        ways_to_end=frozenset({"SystemExit"}),
        halts_anywhere=True,
    ),
    listens_already=_listens_already,
    listening=re.compile(r"wait for debugger connection"),  # before that it takes us for a person at a console
    program_output_is_adapters=True,
    exit_code_from_process=True,
    noise=_NOISE,
    facts=_facts,
)
