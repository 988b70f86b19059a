"""The MCP clients' configuration files: what each needs, where it goes, and how to put it there without harm."""
