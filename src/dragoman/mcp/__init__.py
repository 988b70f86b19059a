"""The MCP face: agents call the table of operations. `door` is light; the SDK is loaded when the first client comes."""
