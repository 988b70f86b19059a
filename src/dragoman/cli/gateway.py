"""`dragoman gateway`: the daemon's connection to an OpenClaw gateway, and chat with its agents."""

from __future__ import annotations

import sys
from collections.abc import Collection
from typing import Annotated, Any

from cyclopts import Parameter

from dragoman.cli import permissions
from dragoman.cli.commands import labelled_app
from dragoman.cli.output import ExitCode, confirm, progress, render, show_json, show_message, show_text, warn
from dragoman.cli.terminals.history import Json
from dragoman.core.errors import DragomanError
from dragoman.core.labels import label_of
from dragoman.core.localization import localize
from dragoman.core.paths import find_paths
from dragoman.core.safe_text import printable
from dragoman.core.settings.loader import load_settings
from dragoman.io.drivers.control_client import ControlClient
from dragoman.io.files.settings_file import write_setting
from dragoman.protocols.control import ControlItem

CONNECT_TIMEOUT_S = 40.0
_IDLE_TIMEOUT_S = 660.0
_SUCCESS_STATES = frozenset({"connected", "disconnected"})


def connect(
    url: Annotated[str, Parameter(help=render(localize("Gateway address; the one in the settings if omitted.")))] = "",
    /,
    *,
    json: Json = False,
) -> int:
    found = _connect_daemon(url)
    if found["untrusted_server"] and not json and _confirm_server(found):
        found = _connect_daemon(url)
    return _show(found, as_json=json, succeeded={"connected"})


def _connect_daemon(url: str) -> dict[str, Any]:
    with ControlClient.open(find_paths()) as link, progress(localize("Connecting to the gateway")):
        found: dict[str, Any] = link.call("gateway_connect", {"url": url}, within_s=CONNECT_TIMEOUT_S)
        return found


def _confirm_server(found: dict[str, Any]) -> bool:
    """Ask the user and remember the answer for this address and this user."""
    address, user = found["untrusted_server"].split()
    question = localize(
        "The server at {address} belongs to user {user}, not to you. Send it your token now and in the future?",
        address=printable(address),
        user=printable(user),
    )
    if not confirm(question):
        return False
    paths = find_paths()
    entries = [*load_settings(paths).trusted_servers, found["untrusted_server"]]
    write_setting(paths.settings_file, "trusted_servers", ", ".join(entries))
    return True


def disconnect(*, json: Json = False) -> int:
    with ControlClient.open(find_paths()) as link:
        found = link.call("gateway_disconnect")
    return _show(found, as_json=json)


def status(*, json: Json = False) -> int:
    with ControlClient.open(find_paths()) as link:
        found = link.call("gateway_status")
    return _show(found, as_json=json)


def sessions(*, json: Json = False) -> int:
    with ControlClient.open(find_paths()) as link:
        found = link.call("gateway_sessions", within_s=CONNECT_TIMEOUT_S)["sessions"]
    if json:
        show_json(found)
        return ExitCode.OK
    for it in found:
        running = render(localize("running")) if it["is_running"] else "-"
        show_text(printable(f"{it['key']}  {running}  {it['display_name']}").replace("\n", "\\n"))
    if not found:
        warn(localize("The gateway has no sessions yet."))
    return ExitCode.OK


def chat(
    text: Annotated[str, Parameter(help=render(localize("Message to send.")), allow_leading_hyphen=True)],
    /,
    *,
    session: Annotated[str, Parameter(help=render(localize("Session to send the message to.")))] = "main",
    json: Json = False,
) -> int:
    """Print the answer as it arrives, and print it again if it is corrected."""
    answer = _AnswerPrinter(is_shown=not json)
    end: dict[str, Any] = {}
    with ControlClient.open(find_paths()) as link:
        for item in link.stream("gateway_chat", {"text": text, "session": session}, idle_s=_IDLE_TIMEOUT_S):
            if isinstance(item, ControlItem):
                answer.add(item.value)
            else:
                end = item.result
    if json:
        show_json({**end, "text": answer.text})
    else:
        answer.finish()
    if end["outcome"] == "final":
        return ExitCode.OK
    raise DragomanError("run_ended", localize("The answer ended early: {reason}", reason=printable(str(end["reason"]))))


def approve(
    request: Annotated[str, Parameter(help=render(localize("Request id; this canvas's own request if omitted.")))] = "",
    /,
    *,
    json: Json = False,
) -> int:
    with ControlClient.open(find_paths()) as link:
        found = link.call("gateway_approve", {"request": request}, within_s=CONNECT_TIMEOUT_S)
    if json:
        show_json(found)
    else:
        show_message(localize("Approved: {request}", request=printable(found["approved"])))
    return ExitCode.OK


class _AnswerPrinter:
    def __init__(self, *, is_shown: bool) -> None:
        self._segments: list[str] = []
        self._is_shown = is_shown
        self._at_line_start = True

    @property
    def text(self) -> str:
        return "".join(self._segments)

    def add(self, value: dict[str, Any]) -> None:
        if "approval" in value:
            self._add_approval(value["approval"])
            return
        if line := next((str(value[name]) for name in ("tool", "error", "changed") if value.get(name)), ""):
            self._write_line(f"[{printable(line)}]".replace("\n", " "))
        elif "text" in value:
            self._add_text(int(value["segment"]), str(value["text"]), replace=bool(value["replace"]))

    def _add_approval(self, approval: dict[str, Any]) -> None:
        if not self._is_shown:
            return
        self.finish()
        permissions.show_approval(approval, is_here=bool(approval["is_here"]))
        sys.stdout.flush()

    def finish(self) -> None:
        if not self._at_line_start:
            self._write("\n")

    def _add_text(self, segment: int, text: str, *, replace: bool) -> None:
        before = self.text
        if replace:
            del self._segments[segment:]
        self._segments += [""] * (segment + 1 - len(self._segments))
        self._segments[segment] += text
        if self.text.startswith(before):
            self._write(printable(self.text[len(before) :]))
        else:
            self._write_line(printable(self.text))

    def _write_line(self, text: str) -> None:
        self._write(("" if self._at_line_start else "\n") + text + "\n")

    def _write(self, text: str) -> None:
        if self._is_shown and text:
            self._at_line_start = text.endswith("\n")
            sys.stdout.write(text)
            sys.stdout.flush()


def _show(found: dict[str, Any], *, as_json: bool, succeeded: Collection[str] = _SUCCESS_STATES) -> int:
    if as_json:
        show_json(found)
    else:
        show_message(
            localize("{address}: {state}", address=printable(found["address"]), state=label_of(found["state"]))
        )
        for words in (found["reason"], found["hint"]):
            if words:
                show_text(f"  {printable(words)}")
        _show_canvas(found)
    return ExitCode.OK if found["state"] in succeeded else ExitCode.FAILED


def _show_canvas(found: dict[str, Any]) -> None:
    """Show the canvas state, for gateways that draw on one."""
    if found["canvas"] == "disconnected":
        return
    show_message(localize("canvas: {state}", state=label_of(found["canvas"])))
    for words in (found["canvas_reason"], found["canvas_hint"]):
        if words:
            show_text(f"  {printable(words)}")


app = labelled_app(name="gateway", default_command=status)
app.command(connect, help=render(localize("Connect the daemon to a gateway.")))
app.command(disconnect, help=render(localize("Disconnect from the gateway.")))
app.command(status, help=render(localize("Show the connection status.")))
app.command(chat, help=render(localize("Send a message to an agent and stream its answer.")))
app.command(sessions, help=render(localize("List the gateway's sessions.")))
app.command(approve, help=render(localize("Approve a pending request on the gateway: this canvas or a device.")))
