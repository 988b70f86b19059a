"""The table of commands: what the user types, which function runs, and which help section lists it.

Functions are named as strings and imported when they are used, because start-up time counts. The options of the fast
commands are in `parser.fast_commands`, and all examples in `parser.examples`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Group, Parameter

from dragoman import __version__
from dragoman.cli.output import render
from dragoman.cli.parser.fast_commands import FAST_COMMANDS
from dragoman.cli.parser.parameters import command_function
from dragoman.core.localization import LocalizedText, localize

if TYPE_CHECKING:
    from dragoman.cli.help import HelpFormatter


def labelled_app(**given: Any) -> App:
    """Create an app with localized labels. A command takes its labels from the app it is added to, so each app needs
    them.
    """
    return App(**_labels(), **given)


def _labels() -> dict[str, Any]:
    return {
        "group_commands": render(localize("Commands")),
        "group_parameters": render(localize("Options")),
        "group_arguments": render(localize("Arguments")),
    }


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """One command. Without a `function` it is a fast command, or has subcommands."""

    words: str
    help: LocalizedText
    """One line that fits into a list of 80 columns."""
    function: str = ""
    details: LocalizedText | None = None
    """More text, shown only in the command's own help."""
    is_common: bool = False
    """Whether `dragoman --help` lists it, or only `dragoman help --all`."""


@dataclass(frozen=True, slots=True)
class HelpGroup:
    title: LocalizedText
    commands: tuple[CommandEntry, ...]


_HELP_GROUPS = (
    HelpGroup(
        localize("Connect an agent"),
        (
            CommandEntry(
                "demo",
                localize("Watch an agent find a real bug in a few seconds."),
                "demo:demo",
                details=localize("No setup is needed."),
                is_common=True,
            ),
            CommandEntry(
                "setup",
                localize("Connect the MCP clients on this machine."),
                "installation.mcp_clients:setup",
                details=localize("Dragoman asks about each client. With --on, sets up another machine instead."),
                is_common=True,
            ),
            CommandEntry(
                "client-config",
                localize("Print, copy or write the configuration of an MCP client."),
                "installation.mcp_clients:client_config",
                is_common=True,
            ),
            CommandEntry(
                "trust",
                localize("Trust a folder so that agents may run its code."),
                "permissions:trust",
                is_common=True,
            ),
        ),
    ),
    HelpGroup(
        localize("Debug"),
        (
            CommandEntry(
                "why",
                localize("Explain why a test or command fails."),
                "debug.why:why",
                details=localize("Exits with 5 if it failed again, and with 0 if it did not."),
                is_common=True,
            ),
            CommandEntry(
                "debug",
                localize("Debug a program from the shell."),
                "debug.commands:app",
                details=localize("The session stays open between commands."),
                is_common=True,
            ),
            CommandEntry(
                "report",
                localize("Write a debug session to a file."),
                "debug.report:report",
                details=localize("The report has the stops, values, output and exit status."),
            ),
            CommandEntry(
                "share",
                localize("Write a debug session to a signed file for somebody else."),
                "handover.share:share",
                details=localize("Dragoman shows what will be in it, and asks. Secrets are removed first."),
            ),
            CommandEntry(
                "open",
                localize("Show a debug session that somebody shared."),
                "handover.open:open_",
                details=localize("The file is verified as a whole first. Nothing of it runs, except with --rerun."),
            ),
            CommandEntry("adapters", localize("List and install debug adapters."), "installation.adapters:app"),
            CommandEntry(
                "lua",
                localize("Locate, copy or check the Lua runtime."),
                "installation.lua:app",
            ),
        ),
    ),
    HelpGroup(
        localize("Watch"),
        (
            CommandEntry(
                "page",
                localize("Open the page in the browser."),
                "daemon.page:page",
                details=localize("--print prints its one-time link instead."),
                is_common=True,
            ),
            CommandEntry(
                "approvals",
                localize("Show and answer pending approvals of the chat agent."),
                "permissions:approvals",
                is_common=True,
            ),
            CommandEntry(
                "stop",
                localize("Stop all agent activity and pause agents (with --all)."),
                "daemon.stop_all:stop",
                details=localize(
                    "Detaches from programs that were already running, and ends the others. Agents stay paused "
                    "until `--undo`. Without --all, it is `dragoman down`."
                ),
            ),
            CommandEntry("journal", localize("Show, search and manage the journal.")),
            CommandEntry("logs", localize("Show the daemon's log."), "daemon.logs:logs"),
        ),
    ),
    HelpGroup(
        localize("Terminals"),
        (
            CommandEntry(
                "shell",
                localize("Open your shell and record it."),
                details=localize("You and your agents can then ask what happened in it."),
                is_common=True,
            ),
            CommandEntry(
                "history",
                localize("Search commands run in recorded terminals."),
                "terminals.history:history",
                is_common=True,
            ),
            CommandEntry(
                "ask", localize("Ask what happened in the terminals."), "terminals.history:ask", is_common=True
            ),
            CommandEntry("last", localize("Show the last command or its output."), "terminals.history:last"),
            CommandEntry(
                "terminals",
                localize("List, watch, export and import recorded terminals."),
                "terminals.recordings:app",
            ),
            CommandEntry("replay", localize("Replay a terminal recording."), "terminals.playback:replay"),
        ),
    ),
    HelpGroup(
        localize("Maintain"),
        (
            CommandEntry("up", localize("Start the daemon, or show its address if it is running."), is_common=True),
            CommandEntry("down", localize("Stop the daemon."), is_common=True),
            CommandEntry(
                "status", localize("Show whether the daemon runs, its address and its sessions."), is_common=True
            ),
            CommandEntry(
                "doctor",
                localize("Diagnose problems and suggest fixes."),
                "installation.doctor:doctor",
                is_common=True,
            ),
            CommandEntry("config", localize("Read and change the settings."), is_common=True),
            CommandEntry("restart", localize("Restart the daemon.")),
            CommandEntry("forget", localize("Permanently erase events."), "journal:forget"),
            CommandEntry(
                "uninstall",
                localize("Remove everything Dragoman created on this machine."),
                "installation.uninstall:uninstall",
                details=localize("Dragoman lists it first, and asks."),
            ),
        ),
    ),
    HelpGroup(
        localize("Protocols and plumbing"),
        (
            CommandEntry(
                "mcp",
                localize("Serve one MCP client on standard input and output."),
                details=localize("MCP clients start this command."),
            ),
            CommandEntry(
                "dap",
                localize("Serve one editor as its debug adapter."),
                details=localize("Editors start this command."),
            ),
            CommandEntry(
                "pipe",
                localize("Join standard input and output to the daemon."),
                details=localize("Commands with --on start this on the other machine."),
            ),
            CommandEntry("gateway", localize("Connect to an OpenClaw gateway and talk to its agents."), "gateway:app"),
            CommandEntry("token", localize("Manage the tokens of HTTP clients.")),
            CommandEntry("wire", localize("Decode and encode protocol bytes, for protocol developers.")),
            CommandEntry(
                "stop-waiting",
                localize("Cancel debug calls that are waiting."),
                details=localize("The programs keep running."),
            ),
            CommandEntry("completions", localize("Print a shell completion script."), "completion:completions"),
        ),
    ),
)

_SUBCOMMANDS = (
    CommandEntry("config get", localize("Show one setting."), "config:config_get"),
    CommandEntry("config set", localize("Change a setting. Comments in the file are kept."), "config:config_set"),
    CommandEntry("config list", localize("Show all settings and where each comes from."), "config:config_list"),
    CommandEntry("config path", localize("Show where the settings file is."), "config:config_path"),
    CommandEntry("token create", localize("Create a token for one client and print it."), "token:create"),
    CommandEntry("token list", localize("List client tokens without their values."), "token:list_"),
    CommandEntry(
        "token revoke", localize("Revoke a client's token and disconnect everything that uses it."), "token:revoke"
    ),
    CommandEntry("token show", localize("Print a token for HTTP clients."), "token:show"),
    CommandEntry(
        "token rotate", localize("Replace a token and disconnect every client that uses the old one."), "token:rotate"
    ),
    CommandEntry("journal tail", localize("Show the newest events. -f follows new ones."), "journal:tail"),
    CommandEntry("journal search", localize("Search events by words, newest first."), "journal:search"),
    CommandEntry("journal export", localize("Print the whole journal as JSON Lines."), "journal:export"),
    CommandEntry("wire decode", localize("Decode protocol bytes to JSON."), "wire:wire_decode"),
    CommandEntry("wire encode", localize("Encode JSON as protocol bytes."), "wire:wire_encode"),
)


class CommandLine(App):
    """The root app. Its help ends with text that cyclopts does not provide: examples, and where to find more
    commands.
    """

    lists_all = False

    def help_print(
        self,
        tokens: Annotated[str | Iterable[str] | None, Parameter(show=False)] = None,
        *,
        console: Annotated[Any, Parameter(parse=False)] = None,
    ) -> None:
        from dragoman.cli.help import print_ending

        super().help_print(tokens, console=console)
        words, _, _ = self.parse_commands(tokens)
        print_ending(console or self.console, " ".join(words), lists_all=self.lists_all)


def build_app(*, lists_all: bool = False) -> App:
    """Build the parser. `lists_all` also lists the less common commands in the help; completion scripts need it."""
    app = CommandLine(
        name="dragoman",
        help=render(localize("The interpreter between AI agents and your machine: debugger, terminal and screen.")),
        version=__version__,
        help_format="plaintext",
        result_action="return_value",
        help_formatter=_LazyHelpFormatter(),
        **_labels(),
    )
    app.lists_all = lists_all
    options = Group(render(localize("Options")), sort_key=len(_HELP_GROUPS))
    for flag, about in (("--help", localize("Show this help.")), ("--version", localize("Show the version."))):
        app[flag].help, app[flag].group = render(about), options
    for place, group in enumerate(_HELP_GROUPS):
        panel = Group(render(group.title), sort_key=place)
        for line, entry in enumerate(group.commands):
            shown = {"group": panel, "sort_key": line, "show": lists_all or entry.is_common}
            _add_command(app, entry, **shown)
    for line, entry in enumerate(_SUBCOMMANDS):
        _add_command(app, entry, sort_key=line)
    return app


def _add_command(app: App, entry: CommandEntry, **shown: Any) -> None:
    parent_name, _, name = entry.words.rpartition(" ")
    parent = app[parent_name] if parent_name else app
    text = "\n\n".join(render(part) for part in (entry.help, entry.details) if part)
    if fast := FAST_COMMANDS.get(entry.words):
        parent.command(command_function(fast), name=name, help=text, **shown)
    elif entry.function:
        parent.command(f"dragoman.cli.{entry.function}", name=name, help=text, **shown)
    else:
        parent.command(labelled_app(name=name, help=text, **shown))


class _LazyHelpFormatter:
    """Import the help formatter on first use, because it takes as long to load as everything else a command needs."""

    def __call__(self, console: Any, options: Any, panel: Any) -> None:
        self._help(console, options, panel)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._help, name)

    @cached_property
    def _help(self) -> HelpFormatter:
        from dragoman.cli.help import HelpFormatter

        return HelpFormatter()
