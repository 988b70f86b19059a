"""The commands as a table: what is typed, where it lives, what it is for. Nothing is imported until it is used."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cyclopts import App, Group

from dragoman import __version__
from dragoman.cli.labels import labelled_app
from dragoman.cli.output import shown
from dragoman.phrases import Phrase, say

if TYPE_CHECKING:
    from dragoman.cli.help import Help


@dataclass(frozen=True, slots=True)
class Command:
    words: str
    function: str
    help: Phrase


_COMMANDS = (
    Command("up", "up_options:up", say("Start the daemon, or say where it runs.")),
    Command("down", "up_options:down", say("End the daemon in order.")),
    Command("restart", "up_options:restart", say("End the daemon and start it again.")),
    Command("status", "status:status", say("Show whether the daemon runs, where, and what lives in it.")),
    Command("mcp", "mcp_options:mcp", say("Serve one MCP client on standard input and output; clients start it.")),
    Command("dap", "dap_options:dap", say("Serve one editor as its debug adapter; editors start it.")),
    Command(
        "debug", "debug.app:app", say("Debug a program from the shell; the session lives on from command to command.")
    ),
    Command("report", "report:report", say("Write a debug session down as one file: stops, values, output, end.")),
    Command("history", "history:history", say("Find commands that ran in recorded terminals.")),
    Command("last", "last:last", say("Show the last command, or what it printed.")),
    Command("ask", "ask:ask", say("Ask what happened in the terminals.")),
    Command("replay", "replay:replay", say("Play what a terminal showed once more.")),
    Command("terminals", "terminals:app", say("The terminals that are recorded: list, watch, export and import.")),
    Command("shell", "shell:shell", say("Open your shell so that agents and you can ask what happened in it.")),
    Command("gateway", "gateway:app", say("An OpenClaw gateway: connect to it, and talk to its agents.")),
    Command("approvals", "approvals:approvals", say("Show what the chat's agent waits for, and answer it.")),
    Command("stop-waiting", "stop_waiting:stop_waiting", say("End the waits of debug tools; the programs go on.")),
    Command("demo", "demo:demo", say("Watch an agent find a real bug in a few seconds; nothing to set up.")),
    Command("page", "page:page", say("Open the page in the browser; --print prints its one-time link.")),
    Command("logs", "logs:logs", say("Show the daemon's log.")),
    Command("setup", "setup:setup", say("Connect the MCP clients on this machine, one question each.")),
    Command("doctor", "doctor:doctor", say("Say what is wrong here and how to mend it.")),
    Command(
        "client-config", "client_config:client_config", say("Print, copy or write one MCP client's configuration.")
    ),
    Command("adapters", "adapters:app", say("List the debug adapters, and install one.")),
    Command("lua", "lua:app", say("The Lua runtime: where it is, a copy for a project, and what is wrong.")),
    Command("config get", "config:config_get", say("Show one setting.")),
    Command("config set", "config:config_set", say("Change one setting; comments are kept.")),
    Command("config list", "config:config_list", say("Show all settings and where each comes from.")),
    Command("config path", "config:config_path", say("Show where the settings file is.")),
    Command("token create", "token:create", say("Make a token for one client, and print it.")),
    Command("token list", "token:list_", say("List the tokens of clients, without their values.")),
    Command("token revoke", "token:revoke", say("Revoke one client's token; whatever is open with it ends.")),
    Command("token show", "token:show", say("Print a token, for clients that speak HTTP.")),
    Command("token rotate", "token:rotate", say("Replace a token; whatever is open with the old one ends.")),
    Command("journal tail", "journal:tail", say("Show the newest events; -f follows.")),
    Command("journal search", "journal:search", say("Find events by words, newest first.")),
    Command("journal export", "journal:export", say("Print the whole journal as JSON lines.")),
    Command("trust", "trust:trust", say("Say that what a folder holds may run when an agent asks for it.")),
    Command("forget", "journal:forget", say("Erase events for good.")),
    Command("wire decode", "wire:wire_decode", say("Turn bytes of a protocol into JSON.")),
    Command("wire encode", "wire:wire_encode", say("Turn JSON into bytes of a protocol.")),
    Command("uninstall", "uninstall:uninstall", say("List what Dragoman made on this machine, and remove it.")),
    Command("completions", "completions:completions", say("Print a completion script for a shell.")),
)

_FIRST = frozenset({"demo", "setup", "shell", "debug"})
_GROUPS = {
    "config": say("Read and change the settings."),
    "token": say("The tokens that HTTP clients need."),
    "journal": say("The record of what happened."),
    "wire": say("For people who debug protocols."),
}


def build_app() -> App:
    app = labelled_app(
        name="dragoman",
        help=shown(say("The interpreter between AI agents and your machine: debugger, terminal and screen.")),
        version=__version__,
        help_format="plaintext",
        result_action="return_value",
        help_formatter=_Help(),
    )
    app["--help"].help = shown(say("Show this."))
    app["--version"].help = shown(say("Show the version."))
    begin_here = Group(shown(say("Begin here")), sort_key=0)
    groups = {name: labelled_app(name=name, help=shown(about)) for name, about in _GROUPS.items()}
    for group in groups.values():
        app.command(group)
    for command in _COMMANDS:
        group_name, _, name = command.words.rpartition(" ")
        parent = groups[group_name] if group_name else app
        panel = begin_here if command.words in _FIRST else None
        parent.command(f"dragoman.cli.{command.function}", name=name, help=shown(command.help), group=panel)
    return app


class _Help:
    """What shows help takes as long to load as all that a command needs: for those who ask for it."""

    def __call__(self, console: Any, options: Any, panel: Any) -> None:
        self._help(console, options, panel)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._help, name)

    @cached_property
    def _help(self) -> Help:
        from dragoman.cli.help import Help

        return Help()
