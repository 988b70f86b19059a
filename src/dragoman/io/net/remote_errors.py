"""Why a target was not reached, from what its command printed: each cause with the command that helps."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from dragoman.core.errors import DragomanError, ErrorSpec, quoted
from dragoman.core.localization import localize
from dragoman.core.safe_text import printable
from dragoman.io.net.targets import Target
from dragoman.protocols.pipe import PipeFailure

_MAX_SHOWN = 300
_NOT_SHOWN = re.compile(r"^(?:Warning: Permanently added|Defaulted container|\s*$)")

target_program_missing = ErrorSpec(
    "target_program_missing",
    "Cannot reach {target}: `{program}` was not found.",
    "Install it on this machine, or put it on PATH.",
)
_host_key_changed = ErrorSpec(
    "host_key_changed",
    "{target} was not reached: its host key is not the one that ssh remembers.",
    "Somebody may be reading along, or the machine was set up again. Find out which; `{by_hand}` shows the details.",
)
_host_key_unknown = ErrorSpec(
    "host_key_unknown",
    "{target} was not reached: ssh does not know its host key, and only a person can accept one.",
    "Connect once in your own terminal and check the key: `{by_hand}`.",
)
_login_refused = ErrorSpec(
    "login_refused",
    "{target} refused the login, and no password can be typed here.",
    "Set up a key with `ssh-copy-id`, or load yours with `ssh-add`, until `{by_hand} true` asks nothing.",
)
_unreachable = ErrorSpec("unreachable", "{target} was not reached: {reason}.", "Check its name and your network.")
_container_missing = ErrorSpec(
    "target_missing", "{target} was not reached: {reason}.", "Check that it runs, and its name: `{program}` lists them."
)
_not_installed = ErrorSpec(
    "not_installed",
    "Dragoman is not installed on {target}, or not on the PATH there.",
    "Run `dragoman setup --on {target}`. `dragoman doctor --on {target}` says what else is missing.",
)
no_far_shell = ErrorSpec(
    "no_far_shell",
    "{target} has no shell, so Dragoman cannot run in it.",
    "`dragoman doctor --on {target}` shows another way.",
)
_far_side_failed = ErrorSpec(
    "far_side_failed",
    "{target} ended the connection: {reason}.",
    "`dragoman doctor --on {target}` checks it step by step.",
)
far_daemon_absent = ErrorSpec(
    "not_running",
    "No daemon is running on {target}.",
    "Run `dragoman up` there. Commands that start a program also start the daemon.",
)
far_side_silent = ErrorSpec(
    "far_side_silent",
    "{target} did not answer within {seconds} seconds.",
    "`dragoman doctor --on {target}` checks it step by step.",
)
far_side_waits = ErrorSpec(
    "far_side_silent",
    "{target} did not answer within {seconds} seconds. Last output of `{program}`: {reason}.",
    "If it waits for you, run `{by_hand}` in your own terminal and do what it asks.",
)
far_daemon_silent = ErrorSpec(
    "not_answering",
    "The daemon on {target} does not answer.",
    "It may be suspended or overloaded. Look there, with `dragoman logs`.",
)
far_answer_not_understood = ErrorSpec(
    "not_understood",
    "{target} sent a response that this version cannot read: {reason}.",
    "Update the older side. `dragoman doctor --on {target}` names both versions.",
    reason=quoted(200),
)
foreign_far_side = ErrorSpec(
    "not_dragoman",
    "The program that answered on {target} is not Dragoman: {reason}.",
    "A declared target's command must end in `dragoman pipe`, and its login scripts must print little.",
)
peer_too_old = ErrorSpec(
    "peer_too_old",
    "Dragoman {theirs} on {target} is too old for {ours} on this machine.",
    "Run `dragoman setup --on {target}`, then `dragoman restart` there.",
)
peer_too_new = ErrorSpec(
    "peer_too_new",
    "Dragoman {theirs} on {target} is too new for {ours} on this machine.",
    "Update it here: `pipx install --force '.[screen]'` in an updated checkout, then `dragoman restart`.",
)
link_silent = ErrorSpec(
    "link_lost",
    "{target} has been silent for {seconds} s, so the connection to it was closed.",
    "The request may have taken effect there. The next call reconnects: check the sessions before you retry.",
)
link_damaged = ErrorSpec(
    "link_lost",
    "The connection to {target} lost or changed bytes, so it was closed.",
    "The request may have taken effect there. The next call reconnects: check the sessions before you retry.",
)
link_failed = ErrorSpec(
    "link_lost",
    "The connection to {target} was closed, because Dragoman failed on this machine: {reason}.",
    "This is a bug in Dragoman. Please report it. The next call reconnects: check the sessions there first.",
    reason=lambda error: f"{type(error).__name__}: {printable(str(error))[:_MAX_SHOWN]}",
)
link_closed = ErrorSpec(
    "link_lost",
    "The connection to {target} broke: {reason}.",
    "The request may have taken effect there. The next call reconnects: check the sessions before you retry.",
)

# The first that matches what the command printed. The words are those of OpenSSH, Docker, Podman, kubectl and shells.
_CAUSES: Sequence[tuple[re.Pattern[str], ErrorSpec]] = tuple(
    (re.compile(pattern, re.IGNORECASE), spec)
    for pattern, spec in (
        (r"remote host identification has changed", _host_key_changed),
        (r"host key verification failed|no .{0,20}host key is known", _host_key_unknown),
        (r"permission denied \(|too many authentication failures|no supported authentication", _login_refused),
        (
            (
                r"could not resolve|name or service not known|connection (?:refused|timed out|reset)|no route to host"
                r"|network is unreachable|operation timed out|banner exchange|unable to connect to the server"
                r"|cannot connect to"
            ),
            _unreachable,
        ),
        # runc: exec: "sh": executable file not found in $PATH, older ones with backslashes; crun: executable file `sh`
        (r'(?:exec: \\*"sh\\*": |executable file `sh` ).{0,40}not found', no_far_shell),
        (
            (
                r"no such container|no container with name|is not running|\bpods? .{0,80}not found"
                r"|container(?: \"?[\w.-]+\"?)? not found|container \S+ is not valid for pod"
                r"|namespaces? .{0,80}not found"
            ),
            _container_missing,
        ),
        (
            (
                r"dragoman.{0,80}(?:not found|no such file)|(?:not found|unknown command|no such file).{0,80}dragoman"
                r"|unknown command `pipe`"
            ),
            _not_installed,
        ),
    )
)
# These do not pass by themselves: a person has to do something first.
_FINAL = frozenset(
    {
        *("bad_target", "unknown_target", "target_program_missing", "host_key_changed", "host_key_unknown"),
        *(
            "login_refused",
            "no_far_shell",
            "not_installed",
            "not_dragoman",
            "peer_too_old",
            "peer_too_new",
            "not_running",
        ),
    }
)


def may_pass(error: DragomanError) -> bool:
    """Whether to try again by itself, as after a broken network."""
    return error.code not in _FINAL


def explain_exit(target: Target, status: int | None, printed: bytes) -> DragomanError:
    """The error for a command that ended before Dragoman answered."""
    text = printed.decode("utf-8", "replace")
    reason = last_line(text) or f"exit status {status}"
    values = {"target": target.name, "reason": reason, "by_hand": target.by_hand or target.program}
    for pattern, spec in _CAUSES:
        if pattern.search(text):
            return _fill(spec, {**values, "program": _lists_with(target)})
    return _fill(_not_installed if status in {126, 127} else _far_side_failed, values)  # as shells end


def last_line(text: str) -> str:
    """The last line that says something, without control characters, cut to fit a sentence."""
    lines = [line.strip() for line in text.splitlines() if not _NOT_SHOWN.match(line)]
    return printable(lines[-1])[:_MAX_SHOWN].rstrip(" .?!") if lines else ""


def far_failure(target: Target, failure: PipeFailure) -> DragomanError:
    """What the far side says is wrong there. Its words are foreign text."""
    if failure.code == "not_running":
        return far_daemon_absent(target=target.name)
    shown, advice = (printable(text.replace("\n", " "))[:_MAX_SHOWN] for text in (failure.message, failure.hint))
    return DragomanError(
        failure.code,
        localize("On {target}: {text}", target=target.name, text=shown),
        hint=localize("{text}", text=advice) if advice else None,
    )


def _lists_with(target: Target) -> str:
    return "kubectl get pods --all-namespaces" if target.program == "kubectl" else f"{target.program} ps"


def _fill(spec: ErrorSpec, values: dict[str, str]) -> DragomanError:
    shown: dict[str, Any] = {name: it for name, it in values.items() if f"{{{name}}}" in spec.message + spec.hint}
    return spec(**shown)
