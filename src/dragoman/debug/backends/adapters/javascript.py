"""JavaScript and TypeScript in Node.js, debugged by js-debug. Each node process is a session of its own, opened by
the first.

Dragoman starts the program (`runInTerminal`), so that it can be given input and its exit code is known: js-debug
never reports it.
"""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import psutil

from dragoman.core.errors import DragomanError, ErrorSpec
from dragoman.core.localization import localize
from dragoman.debug import source_files
from dragoman.debug.backends.adapters.discovery import command_output, find_on_path, require_adapter
from dragoman.debug.backends.adapters.spec import AdapterSpec, LaunchContext
from dragoman.debug.backends.quirks import AdapterQuirks
from dragoman.debug.errors import no_browser, no_inspector
from dragoman.io.net.peers import listeners
from dragoman.io.processes.command import ProcessCommand

_BUILT_SUFFIXES = (".js", ".mjs", ".cjs")
_MOST_FILES = 20_000
_INSPECTOR_TIMEOUT_S = 3.0
_INSPECTOR_POLL_S = 0.02
_ATTACH_TIMEOUT_MS = 4_000  # js-debug retries a closed port forever

_TYPESCRIPT_SUFFIXES = frozenset({".ts", ".mts", ".cts", ".tsx"})
# With one of these keys, the configuration itself says how the file is run or where its build is.
_RUNTIME_KEYS = frozenset({"runtimeExecutable", "runtimeArgs", "outFiles"})
_SKIPPED_FOLDERS = frozenset({"node_modules", ".git"})
_NODE_VERSION = re.compile(r"v(\d+)\.(\d+)\.")


def require_runnable(context: LaunchContext) -> None:
    """Otherwise node ends with a SyntaxError in a file of its own, at the first type."""
    given, program = context.arguments, Path(str(context.arguments.get("program") or ""))
    is_plain = program.suffix in _TYPESCRIPT_SUFFIXES and not any(given.get(key) for key in _RUNTIME_KEYS)
    if context.request != "launch" or not is_plain or context.environment.get("NODE_OPTIONS"):
        return
    version = _node_version(context.environment)
    if not _strips_types(version, program.suffix) and not _is_built(program, context.workspace):
        raise _not_runnable(
            version=".".join(map(str, version)),
            program=program,
            flag='"runtimeArgs": ["--experimental-strip-types"]',
            loader='"runtimeArgs": ["--import", "tsx"]',
        )


def node_strips_types(environment: Mapping[str, str]) -> bool:
    """Whether the node of an environment runs TypeScript without an option."""
    return _strips_types(_node_version(environment), ".ts")


def _node_version(environment: Mapping[str, str]) -> tuple[int, int]:
    node = find_on_path("node", environment)
    match = _NODE_VERSION.match(command_output([str(node), "--version"]))
    return (int(match[1]), int(match[2])) if match else (0, 0)


def _strips_types(version: tuple[int, int], suffix: str) -> bool:
    """One that does not say its version is left to try."""
    is_able = version >= (23, 6) or (22, 18) <= version < (23, 0)
    return version == (0, 0) or (is_able and suffix != ".tsx")


def _is_built(program: Path, workspace: Path) -> bool:
    """Whether there is a script of this name, or any source map. A workspace that is too large to search counts as
    built."""
    wanted = {program.stem + suffix for suffix in _BUILT_SUFFIXES}
    seen = 0
    for name in islice(_files(workspace), _MOST_FILES):
        if name in wanted or name.endswith("js.map"):
            return True
        seen += 1
    return seen == _MOST_FILES


def _files(folder: Path) -> Iterator[str]:
    for _, folders, files in os.walk(folder):
        folders[:] = [it for it in folders if it not in _SKIPPED_FOLDERS]
        yield from folders  # they count against the limit too
        yield from files


_not_runnable = ErrorSpec(
    "needs_build",
    "node {version} cannot run TypeScript directly: {program}.",
    "Build it with source maps (`tsc --sourceMap`), then debug it or the .js; or use node 22.18 or "
    "newer (22.6 with {flag}); or, if tsx is installed, add {loader} to the configuration.",
)


_NODE_PROGRAMS = frozenset({"node", "nodejs"})


def open_inspector(pid: int) -> int:
    """Its port. In a thread: node takes the signal when it gets to it."""
    _require_node(pid)
    before = _listening_ports(pid)
    os.kill(pid, signal.SIGUSR1)
    deadline_s = time.monotonic() + _INSPECTOR_TIMEOUT_S
    while not (opened := _listening_ports(pid) - before) and time.monotonic() < deadline_s:
        time.sleep(_INSPECTOR_POLL_S)
    found = opened or before  # an inspector that was already open stays open
    if len(found) != 1:
        raise no_inspector(pid=pid)
    return found.pop()


def _listening_ports(pid: int) -> set[int]:
    return {it.port for it in listeners([pid]) if it.is_loopback}


def _require_node(pid: int) -> None:
    """Any other program would be killed by the signal."""
    try:
        program = psutil.Process(pid).exe()
    except psutil.Error:
        program = ""
    if Path(program).name not in _NODE_PROGRAMS:
        raise DragomanError(
            "not_node",
            localize("Process {pid} is not a node process.", pid=pid),
            hint=localize("Pass the pid of a `node` process, or use the debugger type for this process."),
        )


_NODE_TYPES = frozenset({"javascript", "node", "pwa-node", "node2"})
_BROWSER_TYPES = frozenset({"chrome", "pwa-chrome", "msedge", "pwa-msedge", "extensionHost", "pwa-extensionHost"})
_SCRIPTS = frozenset({".js", ".cjs", ".mjs"})


# What node itself prints when it runs under a debugger.
_NOISE = re.compile(
    r"Debugger (?:attached|listening on)|Waiting for the debugger to disconnect|For help, see: https://nodejs\.org"
)
# js-debug's own folder of children's sockets must not be the program's debugger, if the client runs under one itself.
_NOT_INHERITED = frozenset({"VSCODE_INSPECTOR_OPTIONS"})


def _command(context: LaunchContext) -> ProcessCommand:
    adapter = require_adapter("javascript", context.adapter_environment)
    start = [_node(context.adapter_environment), str(adapter)] if adapter.suffix in _SCRIPTS else [str(adapter)]
    environment = {name: value for name, value in context.environment.items() if name not in _NOT_INHERITED}
    return ProcessCommand([*start, context.at], environment, context.workspace)


def _arguments(context: LaunchContext) -> dict[str, Any]:
    given = dict(context.arguments)
    if given.get("type") in _BROWSER_TYPES:
        raise no_browser(type=str(given["type"]))
    ours = {"type": "pwa-node", "request": context.request, "__workspaceFolder": str(context.workspace)}
    usual = {"name": "program", "skipFiles": ["<node_internals>/**"], "cwd": str(context.workspace)}
    if context.request != "launch":
        return {**usual, "timeout": _ATTACH_TIMEOUT_MS, **_with_port(given), **ours}
    return {
        **usual,
        "runtimeExecutable": _node(context.environment),
        **given,
        **ours,
        "console": "integratedTerminal",
        "outputCapture": "std",  # Dragoman reads the output itself; `console` would report it a second time
    }


def _with_unpublished_inspector(variables: dict[str, Any]) -> dict[str, Any]:
    """Node's inspector listens on loopback, where anybody who knows the random path of its address may connect.
    js-debug lets node publish that path over HTTP, and does not need that itself. Unpublished, the path is a secret. A
    comma tells node to publish it nowhere; node rejects an empty text."""
    options = variables.get("NODE_OPTIONS")
    if not isinstance(options, str):
        return variables
    return {**variables, "NODE_OPTIONS": re.sub(r"--inspect-publish-uid=\S+", "--inspect-publish-uid=,", options)}


def _with_port(given: dict[str, Any]) -> dict[str, Any]:
    """js-debug itself knows no process ids: its extension opens the inspector for it."""
    pid = given.pop("processId", None)
    return given if not isinstance(pid, int) or "port" in given else {**given, "port": open_inspector(pid)}


def _node(environment: Mapping[str, str]) -> str:
    """The client's node runs the adapter; the program has the node of its own environment."""
    path = find_on_path("node", environment)
    if path is None:
        raise DragomanError(
            "no_node",
            localize("JavaScript needs `node`, which is not on the client's PATH."),
            hint=localize("Install Node.js, or start the client from a shell that has it."),
        )
    return str(path)


def _facts(context: LaunchContext) -> Mapping[str, str]:
    named = context.arguments.get("runtimeExecutable")
    adapter = require_adapter("javascript", context.adapter_environment)
    facts = {"interpreter": str(named or _node(context.environment))} if context.request == "launch" else {}
    return {**facts, "adapter": str(adapter)}


JAVASCRIPT = AdapterSpec(
    name="javascript",
    types=_NODE_TYPES | _BROWSER_TYPES,
    adapter_id="pwa-node",
    transport="unix",
    command=_command,
    arguments=_arguments,
    require_runnable=require_runnable,
    # js-debug has no remainder condition, and a hit that does not count cancels a step in progress.
    quirks=AdapterQuirks(
        suffixes=source_files.JAVASCRIPT,
        hit_forms=frozenset(),
        takes_one_option_only=True,
        thread_dump=Path(__file__).with_name("javascript_threads.js").read_text(encoding="utf-8"),
        # These characters are the same however the string is quoted.
        thread_dump_of=lambda shown: unquote(shown.strip("'\"`")),
        kernel_waits={"lock": "notification"},
        loses_pauses=True,
        debuggees_are_children=True,
        shows_stale_values=True,
        exit_code_from_process=True,
        adapter_lines=_NOISE,
    ),
    exception_filters=("uncaught",),
    program_variables=_with_unpublished_inspector,
    facts=_facts,
)
