"""How each shell is started with our hook, without touching a person's files.

The nonce goes to the hook through a pipe that it reads to the end before anything else runs: it stands in no file, no
argument and no environment. What the variables below say is no secret, and the hook takes them away.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Callable, Mapping

HOOKS = os.path.join(os.path.dirname(__file__), "hooks")  # noqa: PTH118, PTH120  before pathlib is worth its import
_FD_VARIABLE = "DRAGOMAN_HOOK_FD"
_LOGIN_VARIABLE = "DRAGOMAN_HOOK_LOGIN"
_ZDOTDIR_VARIABLE = "DRAGOMAN_HOOK_ZDOTDIR"


class Launch:
    """What is executed; `nonce` is empty where the program has no hook of ours."""

    def __init__(self, program: str, arguments: list[str], environment: dict[str, str]) -> None:
        self.program = program
        self.arguments = arguments
        self.environment = environment
        self.nonce = ""
        self._pipe: int | None = None

    @property
    def name(self) -> str:
        return _name_of(self.program)

    def give_nonce(self, nonce: str) -> None:
        reading, writing = os.pipe()
        os.write(writing, nonce.encode() + b"\n")
        os.close(writing)
        os.set_inheritable(reading, True)
        self.nonce, self._pipe = nonce, reading
        self.environment[_FD_VARIABLE] = str(reading)

    def close(self) -> None:
        """Our copy, once the child has its own."""
        if self._pipe is not None:
            os.close(self._pipe)
            self._pipe = None


def default_shell(environment: Mapping[str, str]) -> str:
    """SHELL, else what the system has for this person."""
    named = environment.get("SHELL", "")
    if os.access(named, os.X_OK):
        return named
    try:
        return pwd.getpwuid(os.getuid()).pw_shell or "/bin/sh"
    except KeyError:
        return "/bin/sh"


def plan(command: list[str], *, login: bool, environment: dict[str, str], nonce: str) -> Launch:
    """A shell that was asked for with arguments of its own is hooked where those leave it interactive."""
    program, *arguments = command or [default_shell(environment)]
    hooked = _HOOKED.get(_name_of(program))
    login = login or program.startswith("-") or bool({"-l", "--login"}.intersection(arguments))
    program = program.removeprefix("-")
    rest = [each for each in arguments if each not in ("-l", "--login", "-i")]
    if hooked is None or rest:
        return Launch(program, _as_login(program, arguments, login=login and not command), dict(environment))
    launch = hooked(program, login, dict(environment))
    launch.give_nonce(nonce)
    return launch


def _name_of(program: str) -> str:
    return os.path.basename(program).lstrip("-")  # noqa: PTH119


def _as_login(program: str, arguments: list[str], *, login: bool) -> list[str]:
    """A shell that we know nothing about is a login shell by the first character of its name, as ever."""
    return ["-" + _name_of(program) if login else program, *arguments]


def _bash(program: str, login: bool, environment: dict[str, str]) -> Launch:
    """A login shell reads no rcfile: the hook reads for it what a login shell reads."""
    if login:
        environment[_LOGIN_VARIABLE] = "1"
    return Launch(program, [program, "--rcfile", f"{HOOKS}/bash.sh", "-i"], environment)


def _zsh(program: str, login: bool, environment: dict[str, str]) -> Launch:
    """The first file of a person's that zsh reads is ours; it undoes that and goes on with theirs."""
    if "ZDOTDIR" in environment:
        environment[_ZDOTDIR_VARIABLE] = environment["ZDOTDIR"]
    environment["ZDOTDIR"] = f"{HOOKS}/zsh"
    return Launch(program, [program, *(["-l"] if login else []), "-i"], environment)


def _fish(program: str, login: bool, environment: dict[str, str]) -> Launch:
    arguments = [program, *(["-l"] if login else []), "-i", "-C", f"source '{_fish_quoted(HOOKS)}/fish.fish'"]
    return Launch(program, arguments, environment)


def _fish_quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")


_HOOKED: dict[str, Callable[[str, bool, dict[str, str]], Launch]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
