"""How each shell is started with our hook, without touching a person's files.

The nonce goes to the hook through a pipe that it reads to the end before anything else runs: it stands in no file, no
argument and no environment. What the variables below say is no secret, and the hook takes them away.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Callable, Mapping

from dragoman.shell.nesting import VARIABLE, offer

HOOKS = os.path.join(os.path.dirname(__file__), "hooks")  # noqa: PTH118, PTH120  before pathlib is worth its import
_FD_VARIABLE = "DRAGOMAN_HOOK_FD"
_LOGIN_VARIABLE = "DRAGOMAN_HOOK_LOGIN"
_ZDOTDIR_VARIABLE = "DRAGOMAN_HOOK_ZDOTDIR"
_RC_VARIABLE = "DRAGOMAN_HOOK_RC"
_AT_PROMPT_VARIABLE = "DRAGOMAN_HOOK_AT_PROMPT"
_COMMAND_VARIABLE = "DRAGOMAN_HOOK_PROMPT_COMMAND"
_BARE_VARIABLE = "DRAGOMAN_HOOK_BARE"
_LOGIN = frozenset({"-l", "--login"})
_WITH_FILE = frozenset({"--rcfile", "--init-file"})
_BARE = frozenset({"-f", "--no-rcs"})
# What leaves a shell interactive, as its hook needs it.
_KNOWN = {
    "bash": _WITH_FILE | {"--norc", "--noprofile", "--noediting"},
    "zsh": _BARE | {"-d", "--no-globalrcs"},
    "fish": frozenset({"-N", "--no-config", "-P", "--private"}),
}


class Launch:
    """What is executed; `nonce` is empty where the program has no hook of ours."""

    def __init__(self, program: str, arguments: list[str], environment: dict[str, str]) -> None:
        self.program = program
        self.arguments = arguments
        self.environment = environment
        self.nonce = ""
        self.word = os.urandom(8).hex()
        """By which a wrapper inside is known."""
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

    def enter(self, terminal: str) -> None:
        self.environment[VARIABLE] = offer(self.word, terminal, self.environment)

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
    login = login or program.startswith("-") or not _LOGIN.isdisjoint(arguments)
    program = program.removeprefix("-")
    words = [each for each in arguments if each not in _LOGIN | {"-i"}]
    if hooked is None or not _leave_interactive(words, _KNOWN[_name_of(program)]):
        return Launch(program, _as_login(program, arguments, login=login and not command), dict(environment))
    launch = hooked(program, login, words, dict(environment))
    launch.give_nonce(nonce)
    return launch


def _leave_interactive(words: list[str], known: frozenset[str]) -> bool:
    rest = iter(words)
    return all(word in known and (word not in _WITH_FILE or next(rest, "")) for word in rest)


def _name_of(program: str) -> str:
    return os.path.basename(program).lstrip("-")  # noqa: PTH119


def _as_login(program: str, arguments: list[str], *, login: bool) -> list[str]:
    """A shell that we know nothing about is a login shell by the first character of its name, as ever."""
    return ["-" + _name_of(program) if login else program, *arguments]


def _bash(program: str, login: bool, words: list[str], environment: dict[str, str]) -> Launch:
    """A login shell reads no rcfile: the hook reads for it what a login shell reads."""
    if login:
        environment[_LOGIN_VARIABLE] = "1"
    if rc := _bash_rc(words, login=login):
        environment[_RC_VARIABLE] = rc
    kept = ["--noediting"] if "--noediting" in words else []
    if rc == os.devnull:
        return Launch(program, [program, "--norc", *kept, "-i"], _hooked_at_prompt(environment))
    return Launch(program, [program, "--rcfile", f"{HOOKS}/bash.sh", *kept, "-i"], environment)


def _hooked_at_prompt(environment: dict[str, str]) -> dict[str, str]:
    """Some builds read the system's file beside any --rcfile: who wants none has the hook from PROMPT_COMMAND."""
    if "PROMPT_COMMAND" in environment:
        environment[_COMMAND_VARIABLE] = environment["PROMPT_COMMAND"]
    quoted = HOOKS.replace("'", "'\\''")
    return environment | {_AT_PROMPT_VARIABLE: "1", "PROMPT_COMMAND": f"builtin source '{quoted}/bash.sh'"}


def _bash_rc(words: list[str], *, login: bool) -> str:
    """What is read in the place of a person's own files; empty for those."""
    if ("--noprofile" if login else "--norc") in words:
        return os.devnull
    files = [words[at + 1] for at, word in enumerate(words) if word in _WITH_FILE]
    return os.path.abspath(files[-1]) if files and not login else ""  # noqa: PTH100


def _zsh(program: str, login: bool, words: list[str], environment: dict[str, str]) -> Launch:
    """The first file of a person's that zsh reads is ours; it undoes that and goes on with theirs, unless with none."""
    if "ZDOTDIR" in environment:
        environment[_ZDOTDIR_VARIABLE] = environment["ZDOTDIR"]
    if not _BARE.isdisjoint(words):
        environment[_BARE_VARIABLE] = "1"
    environment["ZDOTDIR"] = f"{HOOKS}/zsh"
    kept = [word for word in words if word not in _BARE]
    return Launch(program, [program, *(["-l"] if login else []), *kept, "-i"], environment)


def _fish(program: str, login: bool, words: list[str], environment: dict[str, str]) -> Launch:
    hook = f"source '{_fish_quoted(HOOKS)}/fish.fish'"
    return Launch(program, [program, *(["-l"] if login else []), *words, "-i", "-C", hook], environment)


def _fish_quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")


_Hooked = Callable[[str, bool, list[str], dict[str, str]], Launch]
_HOOKED: dict[str, _Hooked] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
