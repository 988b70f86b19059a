"""The servers: MCP, the web page, the gateway, DAP, omnish and the control socket. Each parses, calls the tools or a
domain, and shapes the answer.
"""
