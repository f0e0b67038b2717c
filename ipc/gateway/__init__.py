"""The gateway: a transparent pipe around an MCP server that repairs and logs calls."""
