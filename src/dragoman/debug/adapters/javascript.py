"""JavaScript and TypeScript in node, by js-debug: every node process is a session of its own, asked for by the first.

The program is started by us (`runInTerminal`): so it can be given something to read, and its exit code is known, which
js-debug never tells.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from dragoman.debug import suffixes
from dragoman.debug.adapters.finding import on_path, require_adapter
from dragoman.debug.adapters.inspecting import open_inspector
from dragoman.debug.adapters.spec import AdapterSpec, Situation
from dragoman.debug.adapters.typescript import require_runnable
from dragoman.debug.dialect import Dialect
from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.transport.command import Command

_NODE = frozenset({"javascript", "node", "pwa-node", "node2"})
_BROWSERS = frozenset({"chrome", "pwa-chrome", "msedge", "pwa-msedge", "extensionHost", "pwa-extensionHost"})
_SCRIPTS = frozenset({".js", ".cjs", ".mjs"})
_ATTACHED_WITHIN_MS = 4_000  # js-debug tries a closed port again and again

# What node itself says to whoever started it under a debugger.
_NOISE = re.compile(
    r"Debugger (?:attached|listening on)|Waiting for the debugger to disconnect|For help, see: https://nodejs\.org"
)
# js-debug's own folder of children's sockets must not be the program's debugger, if the client runs under one itself.
_NOT_INHERITED = frozenset({"VSCODE_INSPECTOR_OPTIONS"})


def _command(situation: Situation) -> Command:
    adapter = require_adapter("javascript", situation.searched)
    start = [_node(situation.searched), str(adapter)] if adapter.suffix in _SCRIPTS else [str(adapter)]
    environment = {name: value for name, value in situation.environment.items() if name not in _NOT_INHERITED}
    return Command([*start, situation.at], environment, situation.workspace)


def _arguments(situation: Situation) -> dict[str, Any]:
    given = dict(situation.arguments)
    if given.get("type") in _BROWSERS:
        raise _no_browser(str(given["type"]))
    ours = {"type": "pwa-node", "request": situation.request, "__workspaceFolder": str(situation.workspace)}
    usual = {"name": "program", "skipFiles": ["<node_internals>/**"], "cwd": str(situation.workspace)}
    if situation.request != "launch":
        return {**usual, "timeout": _ATTACHED_WITHIN_MS, **_with_port(given), **ours}
    return {
        **usual,
        "runtimeExecutable": _node(situation.environment),
        **given,
        **ours,
        "console": "integratedTerminal",
        "outputCapture": "std",  # what it prints we read ourselves; `console` would tell it a second time
    }


def _unlisted(variables: dict[str, Any]) -> dict[str, Any]:
    """Node's inspector listens on loopback, where anybody may connect who knows the random path of its address.
    js-debug has node tell that path to whoever asks over HTTP, and does not need it itself: told nowhere, it is a
    secret. A comma is node's way to name no place; an empty text it refuses."""
    options = variables.get("NODE_OPTIONS")
    if not isinstance(options, str):
        return variables
    return {**variables, "NODE_OPTIONS": re.sub(r"--inspect-publish-uid=\S+", "--inspect-publish-uid=,", options)}


def _with_port(given: dict[str, Any]) -> dict[str, Any]:
    """js-debug itself knows no process ids: its extension opens the inspector for it."""
    pid = given.pop("processId", None)
    return given if not isinstance(pid, int) or "port" in given else {**given, "port": open_inspector(pid)}


def _node(environment: Mapping[str, str]) -> str:
    """The client's runs the adapter; the program has the one of its own environment."""
    found = on_path("node", environment)
    if found is None:
        raise DragomanError(
            "no_node",
            say("There is no `node` on the PATH of the client, and JavaScript needs one."),
            hint=say("Install Node.js, or start the client from a shell that has it."),
        )
    return str(found)


def _facts(situation: Situation) -> Mapping[str, str]:
    named = situation.arguments.get("runtimeExecutable")
    adapter = require_adapter("javascript", situation.searched)
    facts = {"interpreter": str(named or _node(situation.environment))} if situation.request == "launch" else {}
    return {**facts, "adapter": str(adapter)}


def _no_browser(type: str) -> DragomanError:
    return DragomanError(
        "no_browser",
        say("{type} debugs a page in a browser, which cannot be done here: only node programs can.", type=type),
        hint=say("Debug the server side with the type `node`, or attach to a node process by its port."),
    )


JAVASCRIPT = AdapterSpec(
    name="javascript",
    types=_NODE | _BROWSERS,
    adapter_id="pwa-node",
    transport="unix",
    command=_command,
    arguments=_arguments,
    require_runnable=require_runnable,
    # It has no way to say a remainder, and a hit that does not count makes it forget the step that is under way.
    dialect=Dialect(
        suffixes=suffixes.JAVASCRIPT,
        hit_forms=frozenset(),
        heeds_one_alone=True,
        thread_dump=Path(__file__).with_name("javascript_threads.js").read_text(encoding="utf-8"),
        thread_dump_of=lambda shown: unquote(shown.strip("'\"`")),  # however it quotes a string, these characters stay
        kernel_waits={"lock": "notification"},
        loses_pauses=True,
    ),
    exception_filters=("uncaught",),
    exit_code_from_process=True,
    ends_with_its_children=True,
    shows_old_values=True,
    program_variables=_unlisted,
    noise=_NOISE,
    facts=_facts,
)
