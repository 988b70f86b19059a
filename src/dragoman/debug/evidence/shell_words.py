"""From a line as a shell takes it to the words of its commands; what a shell would compute is refused."""

from __future__ import annotations

import io
import re
import shlex
from collections.abc import Sequence

from dragoman.errors import DragomanError
from dragoman.phrases import Phrase, say

_OPERATORS = "();<>|&"
_COMPUTED = re.compile(r"\$[\w({]|`")
_SINGLE_QUOTED = re.compile(r"'[^']*'")
# They show what a program prints, and change nothing about it.
_VIEWERS = frozenset({"tail", "head", "grep", "less", "more", "cat", "tee", "sort", "uniq", "wc", "rg", "sed", "awk"})


def cannot_debug(why: Phrase, hint: Phrase) -> DragomanError:
    return DragomanError(
        "cannot_debug", say("This command cannot be run under the debugger: {why}", why=why), hint=hint
    )


def cannot_follow(flag: str) -> DragomanError:
    return cannot_debug(
        say("The debugger cannot follow the flag {flag}.", flag=ascii(flag)[:80]), say("Give the command without it.")
    )


def commands_of(line: str) -> list[list[str]]:
    """The words of commands joined by `&&` or `;`; of the last, without what only shows or redirects its output."""
    if _COMPUTED.search(_SINGLE_QUOTED.sub("", line)):
        raise cannot_debug(
            say("Its words are computed by the shell."), say("Give the command with the words filled in.")
        )
    words, streams = _words(line)
    parts: list[list[str]] = [[]]
    at = 0
    while at < len(words):
        word = words[at]
        if word in {"&&", ";"}:
            parts.append([])
        elif word == "|":
            _require_viewers(words[at + 1 :])
            break
        elif word == "&" and at + 1 == len(words):
            break
        elif word not in {"", "&"} and set(word) <= set("<>&"):
            if at - 1 in streams:
                parts[-1].pop()
            at += 1  # with the file that it names, or the other stream
            _require_no_input(word, words[at : at + 1])
        elif word and set(word) <= set(_OPERATORS):
            raise cannot_debug(say("It is more than one command."), say("Give the one that fails."))
        else:
            parts[-1].append(word)
        at += 1
    return [part for part in parts if part] or [[]]


def _words(line: str) -> tuple[list[str], set[int]]:
    """And which of them are streams: of `2>&1` the 2, which is a word of its own where a space follows it."""
    read = io.StringIO(line)
    reader = shlex.shlex(read, posix=True, punctuation_chars=_OPERATORS)
    reader.whitespace_split = True
    reader.commenters = ""
    words, streams = list[str](), set[int]()
    try:
        for word in reader:
            if word.isdigit() and line[: read.tell()].endswith((f" {word}<", f" {word}>")):
                streams.add(len(words))
            words.append(word)
    except ValueError as error:
        raise cannot_debug(say("A quotation in it does not end."), say("Close the quotation.")) from error
    return words, streams


def _require_no_input(operator: str, named: Sequence[str]) -> None:
    if "<" in operator and named != ["/dev/null"]:
        raise cannot_debug(
            say("It reads its input from elsewhere."),
            say("Give its program to explain_crash, with what it reads in `stdin`."),
        )


def _require_viewers(words: Sequence[str]) -> None:
    commands = [words[0], *(words[at + 1] for at, word in enumerate(words[:-1]) if word == "|")] if words else [""]
    if not _VIEWERS.issuperset(commands):
        raise cannot_debug(
            say("Its output goes to another command."),
            say("Give the first command alone, with what it reads in `stdin`."),
        )
