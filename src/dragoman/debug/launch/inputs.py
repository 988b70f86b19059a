"""`${input:ID}`: what the caller gave for it, else the default that the file's `inputs` section has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dragoman.debug.launch.faults import UnresolvableError, choice, listed, quoted
from dragoman.debug.launch.nodes import Node
from dragoman.phrases import Phrase, say

_KINDS = ("promptString", "pickString", "command")


def input_value(name: str, declared: list[Node], given: Mapping[str, str]) -> tuple[str, bool]:
    """The value, and whether it is text of the file, which may name variables itself."""
    node = next((node for node in declared if node.text("id") == name), None)
    if name in given:
        return _allowed(given[name], name, node), False
    if node is None:
        raise _undeclared(name, declared)
    if node.required_text("type") not in _KINDS:
        raise node.child("type", node.text("type")).wrong(say("one of {choices}", choices=listed(_KINDS)))
    default = node.get("default")
    if default is None or node.text("type") == "command":
        raise _missing(name, node)
    return default.string(), True


def _allowed(value: str, name: str, node: Node | None) -> str:
    options = _options(node) if node is not None else []
    if options and value not in options:
        raise UnresolvableError(
            "bad_input",
            say("{value} is no option of the input {name}", value=quoted(value), name=quoted(name)),
            choice(value, options),
            id=name,
            known=options,
        )
    return value


def _options(node: Node) -> list[str]:
    """Options are strings, or objects with a label for people and the value that counts."""
    options = node.get("options") if node.text("type") == "pickString" else None
    if options is None:
        return []
    return [o.string() if isinstance(o.value, str) else o.required_text("value") for o in options.items()]


def _undeclared(name: str, declared: list[Node]) -> UnresolvableError:
    known = [node.text("id") for node in declared]
    return UnresolvableError(
        "missing_input",
        say("no input {name} is declared in this file, and none was given", name=quoted(name)),
        choice(name, known),
        id=name,
        known=known,
    )


def _missing(name: str, node: Node) -> UnresolvableError:
    details: dict[str, Any] = {"id": name, "description": node.text("description"), "options": _options(node)}
    details["variable"] = f"input:{name}"
    return UnresolvableError("missing_input", _why_missing(name, node), _how_to_give(name), **details)


def _why_missing(name: str, node: Node) -> Phrase:
    if node.text("type") == "command":
        command = quoted(node.text("command"))
        return say("the input {name} runs {command}, a command of VS Code", name=quoted(name), command=command)
    return say("the input {name} was not given and has no default", name=quoted(name))


def _how_to_give(name: str) -> Phrase:
    example = f'{{"inputs": {{{quoted(name)}: …}}}}'
    return say("Give {example}; see `description` and `options`.", example=example)
