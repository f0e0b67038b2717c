"""The context engine's messages: its requests, the MCP server, and the relay that agents start."""
