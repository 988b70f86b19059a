"""Shell completion: the script that `dragoman completions` prints, and the candidates for each argument.

Tab never blocks for long and never prints an error: if the daemon does not answer, there are no candidates.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from dragoman.cli.output import ExitCode, render, show_text
from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize, preferred_language

if TYPE_CHECKING:
    from cyclopts.completion import CompletionContext

_TIMEOUT_S = 1.0

_Shell = Annotated[Literal["bash", "zsh", "fish"], Parameter(help=render(localize("Shell to print the script for.")))]

Candidates = Mapping[str, str]
"""Each candidate with its description."""


def settings(_: CompletionContext) -> Candidates:
    from dragoman.core.settings.loader import describe_settings

    return {it.key: it.about.in_language(preferred_language()) for it in describe_settings()}


def setting_values(context: CompletionContext) -> Candidates:
    """The possible values of the setting that the user typed before."""
    from dragoman.core.settings.loader import setting_choices

    return dict.fromkeys(setting_choices(str(context["key"].value)), "")


def clients(_: CompletionContext) -> Candidates:
    from dragoman.clients.catalog import CLIENTS

    return {it.id: it.title for it in CLIENTS}


def adapters(_: CompletionContext) -> Candidates:
    from dragoman.cli.installation.adapters import adapter_names

    return dict.fromkeys(adapter_names(), "")


def terminals(_: CompletionContext) -> Candidates:
    return {it["terminal"]: it["cwd"] for it in _call_tool("list_terminals", ended=True).get("terminals", ())}


def debug_sessions(_: CompletionContext) -> Candidates:
    return {it["session_id"]: it["state"] for it in _call_tool("list_sessions").get("sessions", ())}


def client_tokens(_: CompletionContext) -> Candidates:
    from dragoman.core.paths import find_paths
    from dragoman.io.drivers.control_client import ControlClient

    try:
        with ControlClient.open(find_paths(), within_s=_TIMEOUT_S) as link:
            tokens = link.call("token_list", within_s=_TIMEOUT_S)["tokens"]
    except DragomanError:
        return {}
    return {it["name"]: it["purpose"] for it in tokens if it["name"] != "default"}


def _call_tool(tool: str, **arguments: Any) -> dict[str, Any]:
    from dragoman.cli.tool_client import open_tool_client

    try:
        with open_tool_client(None, all_workspaces=True, within_s=_TIMEOUT_S) as client:
            return dict(client.call(tool, **arguments).data)
    except DragomanError:
        return {}


# Fall back to file names, as the shell does for other commands. zsh: the generated file only defines its function. As
# `_dragoman` in a folder of fpath it must also call that function, or the first Tab of every session does nothing; when
# it is read with `source` it must be registered instead.
_ENDINGS = {
    "bash": "complete -o bashdefault -o default -F _dragoman dragoman\n",
    "zsh": """
_dragoman_or_files() {
  _cyclopts_dragoman "$@"
  (( compstate[nmatches] )) || _files
}
if [[ "$funcstack[1]" == "_dragoman" ]]; then
  _dragoman_or_files "$@"
else
  compdef _dragoman_or_files dragoman
fi
""",
}


def completions(shell: _Shell, /) -> int:
    from dragoman.cli.commands import build_app

    show_text(build_app(lists_all=True).generate_completion(shell=shell) + _ENDINGS.get(shell, ""))
    return ExitCode.OK
