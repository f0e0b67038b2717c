"""Servers in the agents' MCP configuration that run through the gateway, and back again."""
