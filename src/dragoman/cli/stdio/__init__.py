"""Processes that MCP clients and editors start: they copy bytes between standard input and output and the daemon."""
