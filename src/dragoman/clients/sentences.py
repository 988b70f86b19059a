"""What is said about an outcome and around a snippet."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping

from dragoman.clients.edits import Change
from dragoman.clients.entries import TOKEN_PLACEHOLDER
from dragoman.clients.machine import Machine
from dragoman.clients.table import TOKEN_VARIABLE
from dragoman.clients.wishes import Wish
from dragoman.clients.write import Outcome
from dragoman.phrases import Phrase, say

_CHANGES: Mapping[Change, Callable[[Outcome], Phrase]] = {
    "added": lambda done: say("{client}: added to {path}.", client=done.client.title, path=done.path),
    "updated": lambda done: say("{client}: brought up to date in {path}.", client=done.client.title, path=done.path),
    "unchanged": lambda done: say("{client}: already in {path}.", client=done.client.title, path=done.path),
    "removed": lambda done: say("{client}: removed from {path}.", client=done.client.title, path=done.path),
    "absent": lambda done: say("{client}: not in {path}.", client=done.client.title, path=done.path),
}


def told(done: Outcome) -> list[Phrase]:
    phrases = [_CHANGES[done.change](done)]
    command = shlex.join(done.own_command)
    if done.own_failure:
        phrases.append(
            say(
                "`{command}` did not do it ({reason}), so the file was edited.",
                command=command,
                reason=done.own_failure,
            )
        )
    elif command:
        phrases.append(say("It was done by `{command}`.", command=command))
    if done.backup:
        phrases.append(say("The file as it was: {backup}", backup=done.backup))
    return phrases


def around(wish: Wish, machine: Machine) -> list[Phrase]:
    """Where a snippet goes and what else it needs."""
    phrases = [say("For {client}, into {path}:", client=wish.client.title, path=wish.path)] if wish.path else []
    phrases += [wish.client.note] if wish.client.note else []
    phrases += token_notes(wish)
    if wish.own_command:
        phrases.append(say("Or let it do that itself: `{command}`", command=shlex.join(wish.own_command)))
    return phrases + _wsl_notes(wish, machine)


def token_notes(wish: Wish) -> list[Phrase]:
    if TOKEN_VARIABLE in wish.entry.values():
        return [
            say(
                "It reads the token from {variable}: `export {variable}=$(dragoman token show mcp {client})` "
                "before it starts.",
                variable=TOKEN_VARIABLE,
                client=wish.client.id,
            )
        ]
    if wish.entry != wish.shown or TOKEN_PLACEHOLDER in str(wish.entry):
        return [say("The token is not shown; `dragoman token show mcp {client}` prints it.", client=wish.client.id)]
    return []


def _wsl_notes(wish: Wish, machine: Machine) -> list[Phrase]:
    if not machine.wsl or not wish.client.windows_file or wish.transport != "stdio":
        return []
    return [
        say(
            'If {client} runs on Windows, its file is {file}: put "wsl.exe" for the command and '
            '"-e" and the command before the arguments.',
            client=wish.client.title,
            file=wish.client.windows_file,
        )
    ]
