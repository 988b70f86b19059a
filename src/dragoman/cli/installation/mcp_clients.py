"""`dragoman setup` and `client-config`: write, print or copy the configuration of MCP clients."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from cyclopts import Group, Parameter
from cyclopts.validators import mutually_exclusive

from dragoman.cli import completion
from dragoman.cli.installation.skill import (
    SkillChange,
    SkillCopy,
    change_message,
    planned_change,
    remove_copy,
    skill_copies,
    skill_files,
    write_copy,
)
from dragoman.cli.installation.written_files import WrittenFile, record_written_file
from dragoman.cli.output import ExitCode, confirm, render, report_error, show_json, show_message, show_text, warn
from dragoman.cli.remote.folder_maps import written_maps
from dragoman.cli.remote.options import (
    allows_stop,
    chosen_names,
    chosen_targets,
    crossing_names,
    is_remote,
    refuse_remote,
)
from dragoman.clients.catalog import CLIENTS
from dragoman.clients.config_file import mentions_dragoman
from dragoman.clients.descriptions import describe, describe_all, outcome_messages, snippet_messages, token_notes
from dragoman.clients.edits import diff, snippet
from dragoman.clients.entries import (
    HTTP_PLACEHOLDER,
    TOKEN_PLACEHOLDER,
    DesiredEntry,
    HttpEndpoint,
    desired_http_entry,
    desired_stdio_entry,
    find_client,
    installed_client_entries,
    require_no_token,
)
from dragoman.clients.machine import Machine, ServerCommand, copy_text, find_command, this_machine
from dragoman.clients.writer import ConfigWriter
from dragoman.core.errors import DragomanError
from dragoman.core.localization import LocalizedText, localize, preferred_language
from dragoman.core.paths import find_paths
from dragoman.core.settings.loader import explain_settings
from dragoman.io.drivers.control_client import ControlClient
from dragoman.io.files.settings_file import write_setting
from dragoman.tools.tool_sets import DEFAULT_SET

SkillResult = SkillChange | Literal["declined", "failed"]


@dataclass(frozen=True, slots=True)
class ClientChanges:
    """The clients that one run of `dragoman setup` connects or disconnects."""

    desired_entries: list[DesiredEntry]
    removing: bool
    question: Callable[[DesiredEntry], LocalizedText]
    nothing_message: LocalizedText


def setup(
    *,
    yes: Annotated[bool, Parameter(negative="", help=render(localize("Apply all changes without asking.")))] = False,
    undo: Annotated[bool, Parameter(negative="", help=render(localize("Remove Dragoman from every client.")))] = False,
    tools: Annotated[
        str,
        Parameter(help=render(localize("Tool sets to list to clients, such as default; asked once if omitted."))),
    ] = "",
) -> int:
    if is_remote():
        from dragoman.cli.remote.setup import set_up_target, undo_target

        return undo_target(force=yes) if undo else set_up_target()
    machine = this_machine()
    writer = ConfigWriter(machine=machine, now=datetime.now)
    changes = _clients_to_disconnect(machine) if undo else _clients_to_connect(machine)
    result_by_client = _apply_changes(changes, writer, yes=yes)
    skills = list(_change_skills(changes, result_by_client, machine, yes=yes))
    results = {*result_by_client.values(), *skills}
    if "declined" in results and not _may_ask():
        show_message(localize("Nothing changed: this is not a terminal. Pass `--yes` to apply these changes."))
    if not results:
        show_message(changes.nothing_message)
    if results & {"added", "updated"} or (tools and not undo):
        _choose_tools(tools, yes=yes)
        show_message(localize("Restart the changed clients."))
    if results & {"added", "updated", "unchanged"}:
        show_message(
            localize("Then ask your agent something like:"),
            localize("  “Use dragoman to run the failing test in the debugger and tell me why it fails.”"),
        )
    return _exit_code(results)


def _choose_tools(tools: str, *, yes: bool) -> None:
    """Write the tool sets into the settings. A person is asked only once: either answer is written."""
    paths = find_paths()
    if not tools:
        if yes or explain_settings(paths)["tools"].source.kind != "default":
            return
        if not _may_ask():
            return
        question = localize("Show agents the terminal, canvas and editor tools too? It doubles what the tools cost.")
        tools = f"{DEFAULT_SET}, terminal, canvas, editor" if confirm(question) else DEFAULT_SET
    write_setting(paths.settings_file, "tools", tools)


def _exit_code(results: Set[str]) -> int:
    """The exit code: declining some clients is fine; declining all, or having nobody to ask, is reported to scripts."""
    if "failed" in results:
        return ExitCode.FAILED
    declined = "declined" in results and not results & {"added", "updated", "removed"}
    return ExitCode.DECLINED if declined else ExitCode.OK


def _clients_to_connect(machine: Machine) -> ClientChanges:
    command = find_command(machine)
    if command.note:
        show_message(command.note)
    return ClientChanges(
        installed_client_entries(machine, command),
        removing=False,
        question=lambda desired: localize("Connect {client}?", client=desired.client.title),
        nothing_message=localize("No MCP client found. `dragoman client-config` lists the supported clients."),
    )


def _clients_to_disconnect(machine: Machine) -> ClientChanges:
    """Every file with a Dragoman entry, even if its client is no longer installed."""
    desired_entries = (desired_stdio_entry(client, machine, find_command(machine)) for client in CLIENTS)
    return ClientChanges(
        [desired for desired in desired_entries if desired.path and mentions_dragoman(desired.path)],
        removing=True,
        question=lambda desired: localize("Disconnect {client}?", client=desired.client.title),
        nothing_message=localize("Dragoman is not configured in any client."),
    )


def _may_ask() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _apply_changes(changes: ClientChanges, writer: ConfigWriter, *, yes: bool) -> dict[str, str]:
    """Apply each change and report it. A failure does not stop the others."""
    result_by_client = {}
    for desired in changes.desired_entries:
        try:
            result = _change_client(changes, desired, writer, yes=yes)
        except DragomanError as error:
            report_error(error)
            result = "failed"
        result_by_client[desired.client.id] = result
    return result_by_client


def _change_skills(
    changes: ClientChanges, result_by_client: Mapping[str, str], machine: Machine, *, yes: bool
) -> Iterator[str]:
    """Write the skill for the clients that are connected now, or remove it from wherever it is."""
    is_left_out = {"failed", "declined"} if _may_ask() else {"failed"}
    clients = [it for it in CLIENTS if changes.removing or result_by_client.get(it.id, "failed") not in is_left_out]
    for copy in skill_copies(clients, machine):
        try:
            change: SkillResult = _change_skill(copy, removing=changes.removing, yes=yes)
        except DragomanError as error:
            report_error(error)
            change = "failed"
        if change not in {"absent", "kept"}:
            yield change


def _change_skill(copy: SkillCopy, *, removing: bool, yes: bool) -> SkillResult:
    paths, files = find_paths(), skill_files()
    change = planned_change(copy, files, paths, removing=removing)
    if change in {"added", "updated", "removed"}:
        names = ", ".join(f"{name} ({len(data):,} B)" for name, data in files.items())
        show_message(
            localize("{clients}, skill in {path}:", clients=copy.titles, path=copy.folder),
            localize("  {files}", files=names),
        )
        question = localize("Remove this skill?") if removing else localize("Write this skill for agents?")
        if not yes and not (_may_ask() and confirm(question)):
            return "declined"
        (remove_copy if removing else write_copy)(copy, files, paths)
    if done := change_message(copy, change):
        show_message(done)
    return change


def _change_client(changes: ClientChanges, desired: DesiredEntry, writer: ConfigWriter, *, yes: bool) -> str:
    plan = writer.plan(desired, removing=changes.removing)
    if plan.edited.text != plan.file.text:
        show_message(localize("{client}, {path}:", client=desired.client.title, path=desired.file))
        show_text("\n".join(diff(plan.file.text, plan.edited.text, public=desired.public_strings(plan.edited.before))))
        if not yes and not (_may_ask() and confirm(changes.question(desired))):
            return "declined"
    done = writer.remove(desired) if changes.removing else writer.write(desired)
    show_message(*outcome_messages(done))
    return done.change


EndpointSource = Callable[[str], HttpEndpoint]
"""The endpoint for a client id, with that client's token; without an id, only the address."""


_TRANSPORT = Group(render(localize("Transport")), validator=mutually_exclusive)
_ACTION = Group(render(localize("Action")), validator=mutually_exclusive)


def _flag(about: LocalizedText, *, name: str | None = None, group: Group | None = None) -> Parameter:
    plain = Parameter(name=name, negative="", show_default=False, help=render(about))
    # None would mean "in no group", and the help would omit the option.
    return Parameter.combine(plain, Parameter(group=group)) if group else plain


def daemon_endpoint(client: str) -> HttpEndpoint:
    """Ask the running daemon for its endpoint, because port and address may differ from the settings.

    Each client gets its own token, named after the client, so that it can be revoked separately.
    """
    refuse_remote("client-config --http")
    with ControlClient.open(find_paths()) as link:
        address = link.call("status")["address"]
        token = TOKEN_PLACEHOLDER
        if client:
            token = link.call("token_create", {"purpose": "mcp", "name": client, "or_show": True})["token"]
    return HttpEndpoint(f"{address}/mcp", token)


def client_config(
    client: Annotated[
        str,
        Parameter(help=render(localize("Client id. Omit it to list all clients.")), completer=completion.clients),
    ] = "",
    /,
    *,
    stdio: Annotated[bool, _flag(localize("Let the client start Dragoman (default)."), group=_TRANSPORT)] = False,  # noqa: ARG001
    http: Annotated[bool, _flag(localize("Connect the client to the running daemon."), group=_TRANSPORT)] = False,
    print_: Annotated[  # noqa: ARG001
        bool, _flag(localize("Print the configuration (default)."), name="--print", group=_ACTION)
    ] = False,
    copy: Annotated[bool, _flag(localize("Copy the configuration to the clipboard."), group=_ACTION)] = False,
    write: Annotated[
        bool, _flag(localize("Merge the entry into the client's configuration file."), group=_ACTION)
    ] = False,
    project: Annotated[bool, _flag(localize("Configure this project only, in a file you can share."))] = False,
    json: Annotated[bool, _flag(localize("Print JSON."), group=_ACTION)] = False,
    workspace: Annotated[
        str, Parameter(help=render(localize("Project folder on the machine of --on; the login folder if omitted.")))
    ] = "",
    endpoint: Annotated[EndpointSource, Parameter(parse=False)] = daemon_endpoint,
) -> int:
    machine = this_machine()
    command = find_command(machine).with_options(_server_options(workspace))
    if http:
        refuse_remote("client-config --http")
    if json or not (client or copy or write):
        return _list(client, machine, command, endpoint, as_json=json)
    known = find_client(client)
    if command.note and not http and not project:
        warn(command.note)
    if not http:
        desired = desired_stdio_entry(known, machine, command, project=project)
    else:
        found = endpoint(known.id) if write else _without_token(endpoint, known.id)
        desired = desired_http_entry(known, machine, found, project=project)
    if write:
        return _write(desired, machine, project=project)
    return _copy(desired, machine) if copy else _print(desired, machine)


def _server_options(workspace: str) -> tuple[str, ...]:
    """What `dragoman mcp` is told in the entry, so that it works on the chosen machine."""
    if not is_remote():
        if workspace:
            raise DragomanError(
                "workspace_without_target",
                localize("--workspace requires --on."),
                hint=localize("On this machine, clients start Dragoman in the project's folder."),
            )
        return ()
    chosen_targets()  # an unknown target is reported now, not by the client later
    words = [word for name in chosen_names() for word in ("--on", name)]
    words += [word for name in crossing_names() for word in ("--env", name)]
    words += ["--allow-stop"] if allows_stop() else []
    words += [word for it in written_maps() for word in ("--map", it)]
    return (*words, *(("--workspace", workspace) if workspace else ()))


def _list(id: str, machine: Machine, command: ServerCommand, endpoint: EndpointSource, *, as_json: bool) -> int:
    if not as_json:
        for client in CLIENTS:
            mark = "✓" if client.is_installed(machine) else " "
            show_text(f"{mark} {client.id:<15} {client.title:<30} {client.file(machine) or ''}")
        return ExitCode.OK
    shown_endpoint = _without_token(endpoint)
    rows = (
        [describe(find_client(id), machine, command, shown_endpoint)]
        if id
        else describe_all(machine, command, shown_endpoint)
    )
    language = preferred_language()
    show_json([{**row, "note": row["note"].in_language(language) if row["note"] else None} for row in rows])
    return ExitCode.OK


def _print(desired: DesiredEntry, machine: Machine) -> int:
    """Print the snippet. Messages go to standard error, so that the snippet can be piped into a file."""
    warn(*snippet_messages(desired, machine))
    show_text(snippet(desired.client, desired.redacted))
    return ExitCode.OK


def _copy(desired: DesiredEntry, machine: Machine) -> int:
    by = copy_text(snippet(desired.client, desired.redacted), machine, sys.stderr)
    if by is None:
        raise DragomanError(
            "no_clipboard",
            localize("No clipboard found."),
            hint=localize("`dragoman client-config {id} --print` prints the same text.", id=desired.client.id),
        )
    show_message(localize("Copied ({by}).", by=by), *snippet_messages(desired, machine))
    return ExitCode.OK


def _write(desired: DesiredEntry, machine: Machine, *, project: bool) -> int:
    writer = ConfigWriter(machine=machine, now=datetime.now)
    if project:
        require_no_token(desired)
        if writer.plan(desired).edited.change != "unchanged":
            record_written_file(find_paths(), WrittenFile(str(desired.file.absolute()), desired.client.id))
    done = writer.write(desired)
    show_message(*outcome_messages(done), *(token_notes(desired) if desired.entry == desired.redacted else []))
    if done.change in {"added", "updated"}:
        show_message(
            localize("Restart {client} or reload its MCP servers to apply the change.", client=desired.client.title)
        )
    return ExitCode.OK


def _without_token(endpoint: EndpointSource, client: str = "") -> HttpEndpoint:
    """The endpoint for display: the address if it is known, never the token. A named client gets its token created."""
    try:
        return HttpEndpoint(endpoint(client).url, TOKEN_PLACEHOLDER)
    except DragomanError:
        return HTTP_PLACEHOLDER
