"""Every tool once: its name, parameters, result and handler. MCP, the chat, the page and the command line show the
same registry.
"""

from dragoman.tools.registry import ToolRegistry, build_tool_registry
from dragoman.tools.tool import Effects, Tool, ToolOutcome
from dragoman.workspace.caller import Caller

__all__ = ["Caller", "Effects", "Tool", "ToolOutcome", "ToolRegistry", "build_tool_registry"]
