"""`dragoman debug`: the debug tools without MCP, for scripts and for agents that only have a shell.

Each command makes one or two calls over the daemon's socket; the session stays in the daemon between commands.
"""
