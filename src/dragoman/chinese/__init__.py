"""The Chinese of every phrase, one table an area; a template stands in exactly one of them."""

from dragoman.chinese import (
    access,
    adapters,
    cli,
    clients,
    daemon,
    debug,
    journal,
    lua,
    mcp,
    sessions,
    settings,
    shell_debug,
    tasks,
    tools,
    transport,
    trust,
)

TABLES = (
    access.TABLE,
    adapters.TABLE,
    cli.TABLE,
    clients.TABLE,
    daemon.TABLE,
    debug.TABLE,
    journal.TABLE,
    lua.TABLE,
    mcp.TABLE,
    sessions.TABLE,
    settings.TABLE,
    shell_debug.TABLE,
    tasks.TABLE,
    tools.TABLE,
    transport.TABLE,
    trust.TABLE,
)

CHINESE: dict[str, str] = {english: chinese for table in TABLES for english, chinese in table.items()}
