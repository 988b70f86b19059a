"""What one MCP client is sent: which tools are listed, with which schemas, and whether results have structured content.

The choices come from the settings, the flags of `dragoman mcp` or the query of the HTTP address. They are fixed for the
connection, because common clients ignore `notifications/tools/list_changed`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from dragoman.servers.mcp.errors import unknown_option
from dragoman.tools import Tool, ToolRegistry
from dragoman.tools.tool_sets import DEFAULT_SET

StructuredPolicy = Literal["auto", "always", "never"]
SchemaDetail = Literal["brief", "full"]


@dataclass(frozen=True, slots=True)
class ClientProfile:
    """What a client shows its model of a result that has both text and structured content."""

    title: str
    names: tuple[str, ...]
    """`clientInfo.name`, in lower case."""
    shows: Literal["structured", "both", "text"]
    evidence: str


# A client that shows the structured content, alone or besides, hides or doubles the text that is written for the model.
CLIENT_PROFILES = (
    ClientProfile(
        "Claude Code", ("claude-code",), "structured", "anthropics/claude-code#79944, #55677; errors as text: #86032"
    ),
    ClientProfile(
        "VS Code",
        ("visual studio code", "visual studio code - insiders", "code - oss"),
        "structured",
        "microsoft/vscode#290063",
    ),
    ClientProfile("Codex", ("codex-mcp-client",), "structured", "openai/codex#2594, #38287"),
    ClientProfile("Copilot CLI", ("github-copilot-developer", "copilot-cli"), "both", "github/copilot-cli#4515, #3258"),
    ClientProfile("opencode", ("opencode",), "text", "anomalyco/opencode#34505, #38923"),
    ClientProfile("Kimi Code", ("kimi-code",), "text", "MoonshotAI/kimi-code#3234"),
)
_TEXT_ALONE = frozenset(name for it in CLIENT_PROFILES if it.shows != "text" for name in it.names)


@dataclass(frozen=True, slots=True)
class ClientOptions:
    tools: tuple[str, ...] = (DEFAULT_SET,)
    structured: StructuredPolicy = "auto"
    schemas: SchemaDetail = "brief"
    is_routed: bool = False
    """Whether a `dragoman mcp` with several targets is in between. It needs the data of each result, and removes it."""

    def chosen(self, tools: Iterable[str] = (), structured: str = "", schemas: str = "") -> ClientOptions:
        """These options with the client's own choices in place of those that it made; a DragomanError for a bad one."""
        return ClientOptions(
            tools=tuple(tools) or self.tools,
            structured=_one_of("structured", structured, get_args(StructuredPolicy)) or self.structured,
            schemas=_one_of("schemas", schemas, get_args(SchemaDetail)) or self.schemas,
            is_routed=self.is_routed,
        )

    def listed(self, toolbox: ToolRegistry) -> Sequence[Tool]:
        return toolbox.listed(self.tools)

    def sends_structured(self, client_name: str) -> bool:
        """Whether results have structured content. Without it no output schema is published either, because MCP
        requires it of a tool that has one.
        """
        if self.structured == "auto":
            return client_name.lower() not in _TEXT_ALONE
        return self.structured == "always"


def _one_of(name: str, value: str, choices: tuple[Any, ...]) -> Any:
    if not value:
        return None
    for choice in choices:
        if value == choice:
            return choice
    raise unknown_option(name=name, value=ascii(value[:60]), choices=", ".join(choices))
