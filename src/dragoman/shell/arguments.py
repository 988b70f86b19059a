"""`dragoman shell`'s words, read by hand: a shell opens before a library that parses options is imported."""

from __future__ import annotations


class Options:
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
        """The word of the daemon that holds this terminal for an agent."""
        self.agent, self.login, self.private, self.strip_marks = agent, login, private, strip_marks


_SWITCHES = {"--private": "private", "--strip-marks": "strip_marks", "--login": "login", "-l": "login"}


def parse(arguments: list[str]) -> Options | None:
    """None where there is anything else, for those who explain and refuse it."""
    options = Options([])
    words = list(arguments)
    while words:
        word = words.pop(0)
        if word == "--" and words:
            options.command = words
            return options
        if word == "--agent" and words:
            options.agent = words.pop(0)
        elif word in _SWITCHES:
            setattr(options, _SWITCHES[word], True)
        else:
            return None
    return options
