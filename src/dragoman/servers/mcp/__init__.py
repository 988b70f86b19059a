"""The MCP server. `stdio_endpoint` and `http_endpoint` are light; the SDK is loaded when the first client connects."""
