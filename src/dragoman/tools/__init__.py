"""Every operation once: name, parameters, result, handler. MCP shows this table; so do the chat and the control API."""

from dragoman.tools.operation import Caller, Effects, Operation, Outcome
from dragoman.tools.toolbox import Toolbox, build_toolbox

__all__ = ["Caller", "Effects", "Operation", "Outcome", "Toolbox", "build_toolbox"]
