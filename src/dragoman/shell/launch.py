"""How each shell is started with our hook, without touching a person's files.

The nonce reaches the hook through a pipe that the hook reads to its end before anything else runs. It is in no file,
argument or environment variable. The variables below are not secret, and the hook removes them.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Callable, Mapping

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
_NO_RC_OPTIONS = frozenset({"-f", "--no-rcs"})
# Options that leave a shell interactive, as its hook requires.
_KNOWN = {
    "bash": _WITH_FILE | {"--norc", "--noprofile", "--noediting"},
    "zsh": _NO_RC_OPTIONS | {"-d", "--no-globalrcs"},
    "fish": frozenset({"-N", "--no-config", "-P", "--private"}),
}


class ShellLaunch:
    """What to execute. `nonce` is empty if the program has no hook of ours."""

    def __init__(self, program: str, arguments: list[str], environment: dict[str, str]) -> None:
        self.program = program
        self.arguments = arguments
        self.environment = environment
        self.nonce = ""
        self.word = os.urandom(8).hex()
        """The token that identifies a wrapper inside this terminal."""
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

    def set_nesting_offer(self, terminal: str) -> None:
        self.environment[VARIABLE] = encode_offer(self.word, terminal, self.environment)

    def close(self) -> None:
        """Close our copy, once the child has its own."""
        if self._pipe is not None:
            os.close(self._pipe)
            self._pipe = None


def default_shell(environment: Mapping[str, str]) -> str:
    """SHELL, or the person's login shell."""
    named = environment.get("SHELL", "")
    if os.access(named, os.X_OK):
        return named
    try:
        return pwd.getpwuid(os.getuid()).pw_shell or "/bin/sh"
    except KeyError:
        return "/bin/sh"


def plan_launch(command: list[str], *, login: bool, environment: dict[str, str], nonce: str) -> ShellLaunch:
    """A shell with arguments of its own gets the hook if the arguments leave it interactive."""
    program, *arguments = command or [default_shell(environment)]
    hooked = _HOOKED.get(_name_of(program))
    login = login or program.startswith("-") or not _LOGIN.isdisjoint(arguments)
    program = program.removeprefix("-")
    words = [each for each in arguments if each not in _LOGIN | {"-i"}]
    if hooked is None or not _leave_interactive(words, _KNOWN[_name_of(program)]):
        return ShellLaunch(program, _as_login(program, arguments, login=login and not command), dict(environment))
    launch = hooked(program, login, words, dict(environment))
    launch.give_nonce(nonce)
    return launch


def _leave_interactive(words: list[str], known: frozenset[str]) -> bool:
    rest = iter(words)
    return all(word in known and (word not in _WITH_FILE or next(rest, "")) for word in rest)


def _name_of(program: str) -> str:
    return os.path.basename(program).lstrip("-")  # noqa: PTH119


def _as_login(program: str, arguments: list[str], *, login: bool) -> list[str]:
    """A shell that we do not know becomes a login shell by a dash before its name, as is the convention."""
    return ["-" + _name_of(program) if login else program, *arguments]


def _bash(program: str, login: bool, words: list[str], environment: dict[str, str]) -> ShellLaunch:
    """A login shell reads no rcfile, so the hook reads the login files instead."""
    if login:
        environment[_LOGIN_VARIABLE] = "1"
    if rc := _bash_rc(words, login=login):
        environment[_RC_VARIABLE] = rc
    kept = ["--noediting"] if "--noediting" in words else []
    if rc == os.devnull:
        return ShellLaunch(program, [program, "--norc", *kept, "-i"], _hooked_at_prompt(environment))
    return ShellLaunch(program, [program, "--rcfile", f"{HOOKS}/bash.sh", *kept, "-i"], environment)


def _hooked_at_prompt(environment: dict[str, str]) -> dict[str, str]:
    """Some builds read the system's file beside any --rcfile. With --norc, the hook is run from PROMPT_COMMAND."""
    if "PROMPT_COMMAND" in environment:
        environment[_COMMAND_VARIABLE] = environment["PROMPT_COMMAND"]
    quoted = HOOKS.replace("'", "'\\''")
    return environment | {_AT_PROMPT_VARIABLE: "1", "PROMPT_COMMAND": f"builtin source '{quoted}/bash.sh'"}


def _bash_rc(words: list[str], *, login: bool) -> str:
    """The file that is read in place of a person's own files; empty for those."""
    if ("--noprofile" if login else "--norc") in words:
        return os.devnull
    files = [words[at + 1] for at, word in enumerate(words) if word in _WITH_FILE]
    return os.path.abspath(files[-1]) if files and not login else ""  # noqa: PTH100


def _zsh(program: str, login: bool, words: list[str], environment: dict[str, str]) -> ShellLaunch:
    """The first personal file that zsh reads is ours; it restores ZDOTDIR and continues with the person's files,
    unless zsh should read none."""
    if "ZDOTDIR" in environment:
        environment[_ZDOTDIR_VARIABLE] = environment["ZDOTDIR"]
    if not _NO_RC_OPTIONS.isdisjoint(words):
        environment[_BARE_VARIABLE] = "1"
    environment["ZDOTDIR"] = f"{HOOKS}/zsh"
    kept = [word for word in words if word not in _NO_RC_OPTIONS]
    return ShellLaunch(program, [program, *(["-l"] if login else []), *kept, "-i"], environment)


def _fish(program: str, login: bool, words: list[str], environment: dict[str, str]) -> ShellLaunch:
    hook = f"source '{_fish_quoted(HOOKS)}/fish.fish'"
    return ShellLaunch(program, [program, *(["-l"] if login else []), *words, "-i", "-C", hook], environment)


def _fish_quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")


_HookedLaunch = Callable[[str, bool, list[str], dict[str, str]], ShellLaunch]
_HOOKED: dict[str, _HookedLaunch] = {"bash": _bash, "zsh": _zsh, "fish": _fish}


# Detects a wrapper inside the terminal of another one, so that only the inner one records.
#
# The inner wrapper announces itself on the screen with a token from its environment; a file that is printed does not
# know the token. The announcement ends with the command in which it was made. Inside tmux or screen, marks do not
# reach the outer terminal, so the announcement is written to that terminal directly. There it is never taken back:
# what has been shown is drawn again whenever a window changes.

TYPE_CHECKING = False  # the shell must not wait for `typing`
if TYPE_CHECKING:
    from collections.abc import Mapping

VARIABLE = "DRAGOMAN_INSIDE"
RECORDED = "Recorded"
ELSEWHERE, HERE = "elsewhere", "here"


def encode_offer(word: str, terminal: str, environment: Mapping[str, str]) -> str:
    """The offer includes the terminal's name, so that a program that inherits it in another window does not use it."""
    return f"{word}@{terminal}@{_pane(environment)}"


def nesting_token_in(environment: Mapping[str, str], terminal: str) -> str:
    word, where, _ = _decoded_offer(environment)
    return word if where == terminal else ""


def notify_enclosing_terminal(environment: Mapping[str, str], terminal: str) -> None:
    """Announce the recording directly if tmux or screen is in between. Another program's window does not count."""
    word, where, pane = _decoded_offer(environment)
    if not word or where == terminal or _pane(environment) in ("", pane):
        return
    try:
        around = os.open(where, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if os.isatty(around) and os.fstat(around).st_uid == os.getuid():
            os.write(around, recorded_mark(ELSEWHERE, word))
    except OSError:
        pass
    finally:
        os.close(around)


def recorded_mark(where: str, word: str) -> bytes:
    return f"\x1b]633;P;{RECORDED}={where};nonce={word}\x07".encode() if word else b""


def _decoded_offer(environment: Mapping[str, str]) -> tuple[str, str, str]:
    word, _, rest = environment.get(VARIABLE, "").partition("@")
    where, _, pane = rest.partition("@")
    is_terminal = where.startswith("/dev/") and "/.." not in where
    return (word, where, pane) if word.isalnum() and is_terminal else ("", "", "")


def _pane(environment: Mapping[str, str]) -> str:
    return environment.get("TMUX_PANE", "") + environment.get("STY", "")
