"""`dragoman debug`: the debug tools without MCP, for scripts and for agents that have only a shell.

Each command is a call or two over the daemon's socket; the session lives in the daemon, from one command to the next.
"""
