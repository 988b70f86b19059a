"""What an exit code says by itself: the shell's own codes, signals, and a few programs' well-known ones."""

from __future__ import annotations

import signal
from collections.abc import Mapping, Set

from dragoman.phrases import Phrase, say

_SHELL: Mapping[int, Phrase] = {
    124: say("timeout ended it"),
    126: say("found, but it may not be executed"),
    127: say("command not found"),
}
_SIGNALS: Mapping[int, Phrase] = {
    signal.SIGHUP: say("its terminal was closed"),
    signal.SIGINT: say("interrupted with Ctrl-C"),
    signal.SIGQUIT: say("ended with Ctrl-\\"),
    signal.SIGILL: say("illegal instruction"),
    signal.SIGTRAP: say("trap"),
    signal.SIGABRT: say("it aborted itself"),
    signal.SIGBUS: say("bus error"),
    signal.SIGFPE: say("arithmetic error"),
    signal.SIGKILL: say("killed from outside, often for lack of memory"),
    signal.SIGSEGV: say("segmentation fault"),
    signal.SIGPIPE: say("who read its output had left"),
    signal.SIGTSTP: say("suspended with Ctrl-Z; `fg` resumes it"),
    signal.SIGTERM: say("it was asked to end"),
    signal.SIGXCPU: say("it used up its time"),
    signal.SIGXFSZ: say("a file grew beyond its limit"),
}
# Codes by which a program answers a question: the answer "no" is no failure.
_ANSWERS_BY_CODE: Mapping[int, Set[str]] = {
    1: frozenset({"grep", "egrep", "fgrep", "rg", "ag", "diff", "cmp", "test", "[", "[[", "which", "pgrep"}),
    124: frozenset({"timeout"}),
}
_INTERRUPTED = frozenset({128 + signal.SIGINT, 128 + signal.SIGPIPE, 128 + signal.SIGQUIT})


def exit_meaning(code: int) -> Phrase | None:
    """None where the number says no more than that it failed."""
    if code in _SHELL:
        return _SHELL[code]
    number = code - 128 if 128 < code < 193 else -code if code < 0 else 0
    try:
        name = signal.Signals(number).name
    except ValueError:
        return None
    if number in _SIGNALS:
        return say("{name}: {meaning}", name=name, meaning=_SIGNALS[number])
    return say("ended by {name}", name=name)


def is_harmless(code: int, words: Set[str], *, printed: bool) -> bool:
    """A person's own interruption, and a `no` of a program that answers by its code and had nothing to say."""
    return code in _INTERRUPTED or (not printed and bool(_ANSWERS_BY_CODE.get(code, frozenset()) & words))
