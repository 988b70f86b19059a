"""`dragoman gateway`: the OpenClaw gateway that the daemon is a client of. The daemon connects; these ask it to."""

from __future__ import annotations

import sys
from typing import Annotated, Any

from cyclopts import Parameter

from dragoman.cli import approvals
from dragoman.cli.history import Json
from dragoman.cli.labels import labelled_app
from dragoman.cli.output import ExitCode, ask_yes, show_json, show_text, shown, tell, warn
from dragoman.cli.progress import working
from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.places import find_places
from dragoman.settings import load_settings
from dragoman.transport.control_link import ControlLink
from dragoman.transport.settings_file import write_setting
from dragoman.visible import visible
from dragoman.wire.control import Item
from dragoman.words import word_of

CONNECTED_WITHIN_S = 40.0
_SILENT_AT_MOST_S = 660.0
_GOOD = frozenset({"connected", "disconnected"})


def connect(
    url: Annotated[str, Parameter(help=shown(say("Its address; that of the settings unless named.")))] = "",
    /,
    *,
    json: Json = False,
) -> int:
    found = _connected(url)
    if found["untrusted_server"] and not json and _trusts(found):
        found = _connected(url)
    return _show(found, as_json=json)


def _connected(url: str) -> dict[str, Any]:
    with ControlLink.open(find_places()) as link, working(say("Connecting to the gateway")):
        found: dict[str, Any] = link.call("gateway_connect", {"url": url}, within_s=CONNECTED_WITHIN_S)
        return found


def _trusts(found: dict[str, Any]) -> bool:
    """A person's word, kept for this address and this user."""
    address, user = found["untrusted_server"].split()
    question = say(
        "The server at {address} belongs to the user {user}, not to you. Send it your token, now and later?",
        address=visible(address),
        user=visible(user),
    )
    if not ask_yes(question):
        return False
    places = find_places()
    entries = [*load_settings(places).trusted_servers, found["untrusted_server"]]
    write_setting(places.settings_file, "trusted_servers", ", ".join(entries))
    return True


def disconnect(*, json: Json = False) -> int:
    with ControlLink.open(find_places()) as link:
        found = link.call("gateway_disconnect")
    return _show(found, as_json=json)


def status(*, json: Json = False) -> int:
    with ControlLink.open(find_places()) as link:
        found = link.call("gateway_status")
    return _show(found, as_json=json)


def sessions(*, json: Json = False) -> int:
    with ControlLink.open(find_places()) as link:
        found = link.call("gateway_sessions", within_s=CONNECTED_WITHIN_S)["sessions"]
    if json:
        show_json(found)
        return ExitCode.OK
    for it in found:
        running = shown(say("running")) if it["is_running"] else "-"
        show_text(visible(f"{it['key']}  {running}  {it['display_name']}").replace("\n", "\\n"))
    if not found:
        warn(say("The gateway has no sessions yet."))
    return ExitCode.OK


def chat(
    text: Annotated[str, Parameter(help=shown(say("What you say.")), allow_leading_hyphen=True)],
    /,
    *,
    session: Annotated[str, Parameter(help=shown(say("The session to say it in.")))] = "main",
    json: Json = False,
) -> int:
    """Printed as it comes; what is corrected afterwards is printed again."""
    answer = _Answer(is_shown=not json)
    end: dict[str, Any] = {}
    with ControlLink.open(find_places()) as link:
        for item in link.stream("gateway_chat", {"text": text, "session": session}, idle_s=_SILENT_AT_MOST_S):
            if isinstance(item, Item):
                answer.take(item.value)
            else:
                end = item.result
    if json:
        show_json({**end, "text": answer.text})
    else:
        answer.finish()
    if end["outcome"] == "final":
        return ExitCode.OK
    raise DragomanError("run_ended", say("The answer ended early: {reason}", reason=visible(str(end["reason"]))))


def approve(
    request: Annotated[str, Parameter(help=shown(say("Its id; this canvas's own unless named.")))] = "",
    /,
    *,
    json: Json = False,
) -> int:
    with ControlLink.open(find_places()) as link:
        found = link.call("gateway_approve", {"request": request}, within_s=CONNECTED_WITHIN_S)
    if json:
        show_json(found)
    else:
        tell(say("Approved: {request}", request=visible(found["approved"])))
    return ExitCode.OK


class _Answer:
    def __init__(self, *, is_shown: bool) -> None:
        self._segments: list[str] = []
        self._is_shown = is_shown
        self._at_line_start = True

    @property
    def text(self) -> str:
        return "".join(self._segments)

    def take(self, value: dict[str, Any]) -> None:
        if "approval" in value:
            self._take_approval(value["approval"])
            return
        if line := next((str(value[name]) for name in ("tool", "error", "changed") if value.get(name)), ""):
            self._on_line_of_its_own(f"[{visible(line)}]".replace("\n", " "))
        elif "text" in value:
            self._take_text(int(value["segment"]), str(value["text"]), replace=bool(value["replace"]))

    def _take_approval(self, approval: dict[str, Any]) -> None:
        if not self._is_shown:
            return
        self.finish()
        approvals.show(approval, is_here=bool(approval["is_here"]))
        sys.stdout.flush()

    def finish(self) -> None:
        if not self._at_line_start:
            self._write("\n")

    def _take_text(self, segment: int, text: str, *, replace: bool) -> None:
        before = self.text
        if replace:
            del self._segments[segment:]
        self._segments += [""] * (segment + 1 - len(self._segments))
        self._segments[segment] += text
        if self.text.startswith(before):
            self._write(visible(self.text[len(before) :]))
        else:
            self._on_line_of_its_own(visible(self.text))

    def _on_line_of_its_own(self, text: str) -> None:
        self._write(("" if self._at_line_start else "\n") + text + "\n")

    def _write(self, text: str) -> None:
        if self._is_shown and text:
            self._at_line_start = text.endswith("\n")
            sys.stdout.write(text)
            sys.stdout.flush()


def _show(found: dict[str, Any], *, as_json: bool) -> int:
    if as_json:
        show_json(found)
    else:
        tell(say("{address}: {state}", address=visible(found["address"]), state=word_of(found["state"])))
        for words in (found["reason"], found["hint"]):
            if words:
                show_text(f"  {visible(words)}")
        _show_canvas(found)
    return ExitCode.OK if found["state"] in _GOOD else ExitCode.FAILED


def _show_canvas(found: dict[str, Any]) -> None:
    """Of gateways that draw on one; the others never ask for it."""
    if found["canvas"] == "disconnected":
        return
    tell(say("canvas: {state}", state=word_of(found["canvas"])))
    for words in (found["canvas_reason"], found["canvas_hint"]):
        if words:
            show_text(f"  {visible(words)}")


app = labelled_app(
    name="gateway",
    help=shown(say("An OpenClaw gateway: connect to it, and talk to its agents.")),
    default_command=status,
)
app.command(connect, help=shown(say("Connect the daemon to a gateway.")))
app.command(disconnect, help=shown(say("End the connection.")))
app.command(status, help=shown(say("Show how the connection stands.")))
app.command(chat, help=shown(say("Say something to an agent, and see its answer as it comes.")))
app.command(sessions, help=shown(say("List the gateway's sessions.")))
app.command(approve, help=shown(say("Approve what waits on the gateway: this canvas, or a device.")))
