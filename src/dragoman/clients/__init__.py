"""The configuration files of MCP clients: what each needs, where it is, and how to edit it safely."""
