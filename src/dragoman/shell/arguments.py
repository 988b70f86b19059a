"""The options of `dragoman shell`, and the parser that opens a shell before a library for options could be imported."""

from __future__ import annotations

from dragoman.core.command_options import Option, parse_plain


class ShellOptions:
    """How a shell is wrapped; `command` is empty for the person's own shell."""

    __slots__ = ("agent", "command", "holder", "login", "private", "strip_marks")

    def __init__(
        self,
        command: list[str],
        *,
        agent: str = "",
        login: bool = False,
        private: bool = False,
        strip_marks: bool = False,
    ) -> None:
        self.command = command
        self.holder = ""
        """The token of the daemon that holds this terminal for an agent."""
        self.agent, self.login, self.private, self.strip_marks = agent, login, private, strip_marks


# Those that are not fast change the shell's profile, which needs the whole command line and asks.
SHELL_OPTIONS = (
    Option("--private", lambda localize: localize("Do not record commands or output.")),
    Option("--strip-marks", lambda localize: localize("Do not pass prompt and command marks to the outer terminal.")),
    Option("--login -l", lambda localize: localize("Run a login shell.")),
    Option("--agent", lambda localize: localize("Agent that the shell runs for."), "name", default=""),
    Option("--install", lambda localize: localize("Run `dragoman shell` in every new terminal."), is_fast=False),
    Option("--uninstall", lambda localize: localize("Undo --install."), is_fast=False),
    Option(
        "--shell", lambda localize: localize("Shell for --install, if not your default shell."), "shell", default=""
    ),
    Option("--yes -y", lambda localize: localize("Skip confirmation."), is_fast=False),
)


def parse_arguments(words: list[str]) -> ShellOptions | None:
    """None for any other argument: then the option parser explains or refuses it."""
    parsed = parse_plain(SHELL_OPTIONS, words, takes_command=True)
    return None if parsed is None else ShellOptions(parsed.command, **parsed.given)
