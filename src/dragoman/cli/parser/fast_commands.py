"""The fast commands: the options of each, and the function that runs it.

They run often, so they are parsed here with the standard library, and `commands` builds the full parser from the same
table. The fast path passes on whatever it does not fully understand.
"""

from __future__ import annotations

from dragoman.core.command_options import Option, parse_plain
from dragoman.shell.arguments import SHELL_OPTIONS

TYPE_CHECKING = False  # no `typing`: it would delay a new shell
if TYPE_CHECKING:
    from collections.abc import Callable

    from dragoman.core.command_options import Help, ParsedOptions


class FastCommand:
    """A fast command. `function` takes the options as keywords, after `leading`; `trailing` is the help for words after
    `--`.
    """

    __slots__ = ("function", "leading", "options", "trailing")

    def __init__(
        self, function: str, *options: Option, leading: tuple[str, ...] = (), trailing: Help | None = None
    ) -> None:
        self.function = function
        self.options = options
        self.leading = leading
        self.trailing = trailing

    def run(self, *words: str, **given: object) -> int:
        from importlib import import_module

        module, _, name = self.function.partition(":")
        function = getattr(import_module(f"dragoman.cli.{module}"), name)
        status: int = function(*self.leading, *words, **given)
        return status


def find_fast(arguments: list[str]) -> Callable[[], int] | None:
    words = next((count for count in (2, 1) if " ".join(arguments[:count]) in FAST_COMMANDS), 0)
    if not words:
        return None
    command = FAST_COMMANDS[" ".join(arguments[:words])]
    parsed = parse_plain(command.options, arguments[words:], takes_command=command.trailing is not None)
    return None if parsed is None else lambda: command.run(*parsed.command, **_converted(command, parsed))


def _converted(command: FastCommand, parsed: ParsedOptions) -> dict[str, object]:
    folders = [it.keyword for it in command.options if it.kind == "folder" and it.keyword in parsed.given]
    if not folders:
        return parsed.given
    from pathlib import Path

    return {**parsed.given, **{keyword: Path(parsed.given[keyword]) for keyword in folders}}


_JSON = Option("--json", lambda localize: localize("Print JSON."))
_YES = Option("--yes", lambda localize: localize("Terminate active sessions without asking."))

# Options of all `dragoman debug` commands, fast or not.
DEBUG_JSON = Option("--json", lambda localize: localize("Print the structured result instead of text."))
DEBUG_SESSION = Option(
    "--session", lambda localize: localize("Session; the active session of the workspace if omitted."), "session"
)
DEBUG_WORKSPACE = Option(
    "--workspace",
    lambda localize: localize("Project folder; if omitted, the nearest parent with .git or .vscode."),
    "folder",
)
DEBUG_TIMEOUT = Option(
    "--timeout", lambda localize: localize("Seconds to wait for a stop or the end; 45 if omitted."), "seconds"
)
DEBUG_THREAD = Option("--thread", lambda localize: localize("Thread; the stopped thread if omitted."), "thread")


def _run_control(name: str, *options: Option) -> FastCommand:
    return FastCommand("debug.run_control:control", *options, DEBUG_WORKSPACE, DEBUG_JSON, leading=(name,))


FAST_COMMANDS = {
    "up": FastCommand(
        "daemon.lifecycle:up",
        Option("--port", lambda localize: localize("Port to listen on; 0 picks any free port."), "port"),
        Option("--workspace", lambda localize: localize("Workspace folder."), "folder", default="."),
        Option("--foreground", lambda localize: localize("Run in the foreground.")),
        Option("--take-over", lambda localize: localize("Stop a running daemon first.")),
        _YES,
        Option("--verbose", lambda localize: localize("Write a more detailed log.")),
        _JSON,
    ),
    "down": FastCommand("daemon.lifecycle:down", _YES, _JSON),
    "restart": FastCommand("daemon.lifecycle:restart", _YES, _JSON),
    "status": FastCommand("daemon.status:status", _JSON),
    "mcp": FastCommand(
        "stdio.mcp:mcp",
        Option("--workspace", lambda localize: localize("Working directory of the client."), "folder", default="."),
        Option(
            "--tools",
            lambda localize: localize("Tool sets to list, separated by commas; those of the settings if omitted."),
            "text",
            default="",
        ),
        Option(
            "--structured",
            lambda localize: localize("Whether results have structured content: auto, always or never."),
            "text",
            default="",
        ),
        Option(
            "--schemas",
            lambda localize: localize("Schemas in the list of tools: brief, or full with those of the results."),
            "text",
            default="",
        ),
    ),
    "dap": FastCommand(
        "stdio.dap:dap",
        Option("--stdio", lambda localize: localize("Communicate over standard input and output.")),
        Option("--attach", lambda localize: localize("Id of the session to join."), "text", default=""),
        Option("--read-only", lambda localize: localize("Watch without changing anything.")),
        Option("--workspace", lambda localize: localize("Folder open in the editor."), "folder", default="."),
    ),
    "pipe": FastCommand("stdio.pipe:pipe"),
    "shell": FastCommand(
        "terminals.shell:shell",
        *SHELL_OPTIONS,
        trailing=lambda localize: localize("Command to run instead of the shell."),
    ),
    "stop-waiting": FastCommand(
        "debug.run_control:stop_waiting",
        Option("--session", lambda localize: localize("Only this session."), "text", default=""),
        _JSON,
    ),
    "debug next": _run_control("next", DEBUG_SESSION, DEBUG_THREAD, DEBUG_TIMEOUT),
    "debug step": _run_control("step", DEBUG_SESSION, DEBUG_THREAD, DEBUG_TIMEOUT),
    "debug out": _run_control("out", DEBUG_SESSION, DEBUG_THREAD, DEBUG_TIMEOUT),
    "debug continue": _run_control(
        "continue",
        Option("--until", lambda localize: localize("Also stop at FILE:LINE, once."), "text"),
        DEBUG_SESSION,
        DEBUG_THREAD,
        DEBUG_TIMEOUT,
    ),
    "debug pause": _run_control("pause", DEBUG_SESSION, DEBUG_TIMEOUT),
    "debug wait": _run_control(
        "wait",
        Option(
            "--hold",
            lambda localize: localize("Keep an attached program stopped for this many more seconds."),
            "seconds",
        ),
        DEBUG_SESSION,
        DEBUG_TIMEOUT,
    ),
    "debug restart": _run_control("restart", DEBUG_SESSION, DEBUG_TIMEOUT),
    "debug stop": _run_control("stop", DEBUG_SESSION),
}
