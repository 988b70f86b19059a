"""Ruby, debugged by rdbg, which runs inside the program and listens on a private socket."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from dragoman.debug import source_files
from dragoman.debug.backends.adapters.discovery import require_adapter
from dragoman.debug.backends.adapters.spec import AdapterSpec, Address, LaunchContext
from dragoman.debug.backends.quirks import AdapterQuirks
from dragoman.io.processes.command import ProcessCommand

# Ruby buffers output to a pipe in blocks, so output from before a stop would arrive after it.
_UNBUFFERED = Path(__file__).with_name("unbuffered.rb")
_NOISE = re.compile(r"DEBUGGER: ")
# What a failed expression returns, as if it were a value.
_FAILURES = frozenset(
    {
        *("NameError", "NoMethodError", "SyntaxError", "TypeError", "ArgumentError", "ZeroDivisionError"),
        *("RuntimeError", "StandardError", "KeyError", "IndexError", "RangeError", "FrozenError", "LocalJumpError"),
    }
)


def _command(context: LaunchContext) -> ProcessCommand:
    adapter = require_adapter("ruby", context.adapter_environment)
    argv = [str(adapter), "--open", f"--sock-path={context.at}", "-c", "--", *_program(context)]
    cwd = context.workspace / str(context.arguments.get("cwd") or "")
    # Stops at exceptions that nothing rescues, with the frames that raised them. rdbg has no filter for that.
    environment = {"RUBY_DEBUG_POSTMORTEM": "true", **context.environment}
    return ProcessCommand(argv, environment, Path(os.path.normpath(cwd)))


def _program(context: LaunchContext) -> list[str]:
    """Both extensions' keys: `script` of rdbg's, `program` of the other and of ours; `command` for what wraps Ruby."""
    given = context.arguments
    script = str(given.get("program") or given.get("script") or "")
    starts = given.get("command") or "ruby"
    words = [str(word) for word in starts] if isinstance(starts, list) else str(starts).split()
    args = given.get("args") or []
    if words == ["ruby"]:
        words += ["-r", str(_UNBUFFERED)]
    return [*words, script, *(args.split() if isinstance(args, str) else map(str, args))]


def _arguments(context: LaunchContext) -> dict[str, Any]:
    """It knows no launch: the program is there when we come, and waits."""
    if context.request == "attach" and _running_adapter(context) is None:
        raise DragomanError(
            "cannot_attach",
            localize("A Ruby program must listen for a debugger before you can attach."),
            hint=localize(
                "Start it with `rdbg --open --port PORT FILE`, then attach with `debugPort` set to that port."
            ),
        )
    return {"localfs": True}


def _running_adapter(context: LaunchContext) -> Address | None:
    address = context.arguments.get("debugPort", context.arguments.get("port"))
    if context.request != "attach" or not isinstance(address, int | str):
        return None
    host, _, port = str(address).rpartition(":")
    return Address(host or "127.0.0.1", int(port)) if port.isascii() and port.isdecimal() else None


def _facts(context: LaunchContext) -> Mapping[str, str]:
    return {} if _running_adapter(context) else {"adapter": str(require_adapter("ruby", context.adapter_environment))}


RUBY = AdapterSpec(
    name="ruby",
    types=frozenset({"rdbg", "ruby", "Ruby", "ruby_lsp"}),
    adapter_id="rdbg",
    transport="unix",
    command=_command,
    arguments=_arguments,
    quirks=AdapterQuirks(
        calls_bare=True,
        suffixes=source_files.RUBY,
        hit_forms=frozenset(),
        or_word="||",
        takes_log_messages=False,
        condition_expression="!!({condition})",
        clear_breakpoints_expression="DEBUGGER__::SESSION.delete_bp",
        assignment_expression="{name} = ({value})",
        raised_local="_raised",
        raised_local_pattern=r"(?s)#<[\w:]+: (?P<message>.*?)>?",
        sourceless_pattern=r"\[C\] ",  # rdbg reports it at the location of its caller
        step_out_ends_inside=True,
        failure_types=_FAILURES,
        stops_unasked=frozenset({"pause"}),
        ways_to_end=frozenset({"SystemExit"}),
        halts_anywhere=True,
        program_output_is_adapters=True,
        exit_code_from_process=True,
        adapter_lines=_NOISE,
    ),
    running_adapter=_running_adapter,
    # Before that, rdbg treats the client as a person at its console.
    listening=re.compile(r"wait for debugger connection"),
    facts=_facts,
)
