"""What a workspace's launch.json offers, as written: nothing is resolved, and nothing runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragoman.debug.launch.faults import LaunchError
from dragoman.debug.launch.files import WorkspaceFiles, entries, require_workspace
from dragoman.debug.launch.nodes import Node
from dragoman.phrases import say
from dragoman.workspace.paths import PathRule

REQUESTS = ("launch", "attach")


@dataclass(frozen=True, slots=True)
class Listing:
    """Whole entries with every key of theirs; an entry that cannot be started is named in `problems` instead."""

    configurations: Sequence[dict[str, Any]]
    compounds: Sequence[dict[str, Any]]
    problems: Sequence[LaunchError]


def configurations(workspace: Path, rule: PathRule | None = None) -> Listing:
    require_workspace(workspace)
    launch = WorkspaceFiles(workspace, rule or PathRule()).launch
    problems: list[LaunchError] = []
    return Listing(
        _whole(entries(launch, "configurations"), require_configuration, problems),
        _whole(entries(launch, "compounds"), require_compound, problems),
        problems,
    )


def require_configuration(node: Node) -> None:
    for key in ("name", "type", "request"):
        node.required_text(key)
    if node.text("request") not in REQUESTS:
        raise node.child("request", node.text("request")).wrong(say('"launch" or "attach"'))


def require_compound(node: Node) -> None:
    node.required_text("name")
    if not compound_members(node):
        raise node.fault(say("this compound has no configurations"))


def compound_members(node: Node) -> list[Node]:
    """The names it starts: a plain string, or an object with a name, for a workspace of several folders."""
    members = entries(node, "configurations")
    return [member if isinstance(member.value, str) else _named(member) for member in members]


def _named(member: Node) -> Node:
    return member.child("name", member.required_text("name"))


def _whole(nodes: list[Node], require: Callable[[Node], None], problems: list[LaunchError]) -> list[dict[str, Any]]:
    whole = []
    for node in nodes:
        try:
            require(node)
        except LaunchError as problem:
            problems.append(problem)
        else:
            whole.append(node.object())
    return whole
