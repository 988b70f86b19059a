"""The Chinese of every phrase, one table an area; a template stands in exactly one of them."""

from dragoman.chinese import access, cli, clients, daemon, debug, journal, mcp, sessions, settings, tools, transport

TABLES = (
    access.TABLE,
    cli.TABLE,
    clients.TABLE,
    daemon.TABLE,
    debug.TABLE,
    journal.TABLE,
    mcp.TABLE,
    sessions.TABLE,
    settings.TABLE,
    tools.TABLE,
    transport.TABLE,
)

CHINESE: dict[str, str] = {english: chinese for table in TABLES for english, chinese in table.items()}
