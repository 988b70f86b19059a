"""The terminal tools: which commands ran, what they printed, what a screen shows, and the agent's own terminals."""

from __future__ import annotations

from dragoman.core.clock import Clock
from dragoman.core.redaction import Redactor
from dragoman.terminal.agent_terminals.pool import AgentTerminalPool
from dragoman.terminal.consent import ConsentBroker
from dragoman.terminal.service import TerminalService
from dragoman.tools.terminal.command_output import CommandOutputTools
from dragoman.tools.terminal.inspection import TerminalInspectionTools, TerminalListTools
from dragoman.tools.terminal.run import RunInTerminalTools
from dragoman.tools.terminal.text import TerminalTextFormatter
from dragoman.tools.tool import Tool, bind_tools

__all__ = ["TOOLS", "terminal_tools"]

# In display order.
TOOLS = (
    TerminalListTools.terminals,
    TerminalInspectionTools.search,
    CommandOutputTools.output,
    CommandOutputTools.failure,
    TerminalInspectionTools.screen,
    RunInTerminalTools.run,
    RunInTerminalTools.wait,
)


def terminal_tools(
    service: TerminalService,
    wrappers: ConsentBroker,
    own: AgentTerminalPool,
    redactor: Redactor,
    clock: Clock,
) -> list[Tool]:
    texts = TerminalTextFormatter(redactor)
    return bind_tools(
        TOOLS,
        TerminalListTools(service, own, texts, clock),
        TerminalInspectionTools(service, texts, clock),
        CommandOutputTools(service, texts),
        RunInTerminalTools(service, own, wrappers, texts, clock),
        set="terminal",
    )
