"""Targets: other machines, containers and pods, and the commands that reach a daemon there.

A target's name comes from a person: the command line, `DRAGOMAN_ON` or the user's settings. Its parts go into argument
lists of programs, so each part has a strict form, and no part can begin with a dash.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from dragoman import __version__
from dragoman.core.errors import ErrorSpec, quoted

MAX_NAME = 300
REMOTE_FOLDER = ".local/share/dragoman/remote"
"""Below the home folder there: what `dragoman setup --on` made, one folder per version."""

# A folder of exactly our version comes before PATH. For `sh`, and without single quotes, backslashes and exclamation
# marks, because other shells carry it: fish and csh read those differently.
PIPE_SCRIPT = (
    f'd="$HOME/{REMOTE_FOLDER}/{__version__}/bin/dragoman"; if [ -x "$d" ]; then exec "$d" pipe; fi; exec dragoman pipe'
)

_NAME = r"[A-Za-z0-9_][A-Za-z0-9_.-]*"
_DNS_NAME = r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?"
_SSH = re.compile(rf"(?:{_NAME}\$?@)?(?:{_NAME}|\[?[0-9A-Fa-f]*:[0-9A-Fa-f:.]*\]?)")
_CONTAINER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_POD = re.compile(rf"(?:(?P<namespace>{_DNS_NAME})/)?(?P<pod>{_DNS_NAME})(?::(?P<container>{_DNS_NAME}))?")
_DECLARED = re.compile(_NAME)

# BatchMode: a question for a password or about a host key is an error at once. `-a -x`: neither the agent nor the
# display crosses. Our own limits on silence notice a far side that hangs, after ssh had its time to say why;
# ServerAliveInterval ends an ssh that outlives us.
_SSH_OPTIONS = (
    *("-T", "-a", "-x", "-e", "none", "-o", "BatchMode=yes", "-o", "ConnectTimeout=8"),
    *("-o", "ClearAllForwardings=yes", "-o", "PermitLocalCommand=no", "-o", "ServerAliveInterval=15"),
)
# ssh offers variables to the far side by `SendEnv`, which Debian sets to `LANG LC_*`: it is given none to offer, only
# what it needs to find its agent and its files.
_SSH_ENVIRONMENT = frozenset(
    {"HOME", "KRB5CCNAME", "LOGNAME", "PATH", "SSH_AUTH_SOCK", "TMPDIR", "USER", "XDG_RUNTIME_DIR"}
)


@dataclass(frozen=True, slots=True)
class Target:
    name: str
    """As the person wrote it."""
    command: tuple[str, ...]
    """Runs `dragoman pipe` there, over its own standard input and output."""
    shell: tuple[str, ...] = ()
    """Runs the program there that the following words name; empty for a declared target."""
    by_hand: str = ""
    """What a person types to run a command there, before that command."""
    passes: frozenset[str] | None = None
    """The variables that the command itself may see; None for all, where the command sends none across, but those of
    the language: they cross by many an `ssh` inside, and errors of the command are understood in English."""

    @property
    def program(self) -> str:
        return self.command[0]

    def environment(self, of: Mapping[str, str]) -> dict[str, str]:
        if self.passes is None:
            return {name: value for name, value in of.items() if not name.startswith(("LANG", "LC_"))}
        return {name: value for name, value in of.items() if name in self.passes}

    @property
    def is_container(self) -> bool:
        return bool(self.shell) and self.passes is None

    def run_command(self, *words: str) -> tuple[str, ...]:
        """The command that runs another program there, over its own standard input and output."""
        return _with_program(self.shell, words, joined=self.passes is not None)


def _with_program(shell: Sequence[str], words: Sequence[str], *, joined: bool) -> tuple[str, ...]:
    if not joined:
        return (*shell, *words)
    *before, last = shell
    return (*before, f"{last} {shlex.quote('exec ' + shlex.join(words))}")


def find_target(name: str, declared: Callable[[], Mapping[str, Sequence[str]]]) -> Target:
    """The target of that name. `declared` loads the names of the settings, only when one is meant."""
    kind, colon, rest = name.partition(":")
    if colon and kind in _KINDS and len(name) <= MAX_NAME:
        return _KINDS[kind](name, rest)
    if colon or len(name) > MAX_NAME or not _DECLARED.fullmatch(name):
        raise bad_target(name=name)
    commands = declared()
    if name not in commands:
        raise unknown_target(name=name)
    command = tuple(commands[name])
    return Target(name, command, passes=_SSH_ENVIRONMENT if PurePath(command[0]).name == "ssh" else None)


def _ssh_target(name: str, host: str) -> Target:
    if not _SSH.fullmatch(host):
        raise bad_target(name=name)
    # `ssh` takes an IPv6 address without brackets. Behind `--`, nothing is an option.
    before = ("ssh", *_SSH_OPTIONS, "--", host.replace("[", "").replace("]", ""))
    # A login shell: ~/.local/bin is often on PATH only there, and programs get the person's own environment. `$SHELL`
    # alone is understood by sh, fish and csh.
    shell = (*before, 'exec "$SHELL" -l -c')
    command = _with_program(shell, ("sh", "-c", PIPE_SCRIPT), joined=True)
    return Target(name, command, shell, f"ssh {host}", _SSH_ENVIRONMENT)


def _container_target(program: str) -> Callable[[str, str], Target]:
    def make(name: str, container: str) -> Target:
        if not _CONTAINER.fullmatch(container):
            raise bad_target(name=name)
        before = (program, "exec", "-i", "--", container)
        return Target(name, (*before, "sh", "-c", PIPE_SCRIPT), before, f"{program} exec {container}")

    return make


def _pod_target(name: str, text: str) -> Target:
    """For kubectl, `--` ends its own arguments, so the pod stands before it; its form excludes options."""
    match = _POD.fullmatch(text)
    if not match:
        raise bad_target(name=name)
    namespace = [f"--namespace={match['namespace']}"] if match["namespace"] else []
    container = [f"--container={match['container']}"] if match["container"] else []
    # `--quiet`: no line about the default container. `--request-timeout` would also end the connection, so it is unset.
    before = ("kubectl", "exec", "-i", "--quiet", *namespace, *container, match["pod"], "--")
    by_hand = shlex.join(["kubectl", "exec", *namespace, *container, match["pod"], "--"])
    return Target(name, (*before, "sh", "-c", PIPE_SCRIPT), before, by_hand)


def debug_container_command(target: Target) -> str | None:
    """What a person types to debug a pod from a container beside it, which has what its own lacks."""
    found = _POD.fullmatch(target.name.removeprefix("kubectl:")) if target.name.startswith("kubectl:") else None
    if not found:
        return None
    namespace = [f"--namespace={found['namespace']}"] if found["namespace"] else []
    beside = [f"--target={found['container']}"] if found["container"] else ["--target=CONTAINER"]
    return shlex.join(["kubectl", "debug", "-it", *namespace, found["pod"], "--image=python:3.12", *beside])


_KINDS: Mapping[str, Callable[[str, str], Target]] = {
    "ssh": _ssh_target,
    "docker": _container_target("docker"),
    "podman": _container_target("podman"),
    "kubectl": _pod_target,
}


bad_target = ErrorSpec(
    "bad_target",
    "Invalid target: {name}.",
    "Use ssh:[USER@]HOST, docker:NAME, podman:NAME, kubectl:[NAMESPACE/]POD[:CONTAINER], or a name from `[targets]` in "
    "your settings.",
    name=quoted(200),
)
unknown_target = ErrorSpec(
    "unknown_target",
    "Unknown target: {name}.",
    "Write how to reach it, such as `ssh:{name}`, or declare it as `[targets.{name}]` in your settings file "
    "(`dragoman config path`).",
)


def require_variable_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,199}", name):
        raise _bad_variable_name(name=name)
    return name


_bad_variable_name = ErrorSpec(
    "bad_variable",
    "Invalid variable name: {name}.",
    "With --on, `--env NAME` passes your own variable of that name to programs there.",
    name=quoted(200),
)
