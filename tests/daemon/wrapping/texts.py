"""Configurations as people have them, each with a server called `files`."""

from __future__ import annotations

CLAUDE = """\
{
  "numStartups": 12,
  "mcpServers": {
    "files": {
      "type": "stdio",
      "command": "npx",
      "args": [
        "-y",
        "@modelcontextprotocol/server-filesystem",
        "/tmp"
      ],
      "env": { "TOKEN": "s3cret" }
    },
    "bare": { "command": "mcp-bare" },
    "web": { "type": "http", "url": "https://example.com/mcp" }
  },
  "projects": { "/repo": { "mcpServers": { "mine": { "command": "mine", "args": [] } } } }
}
"""
GEMINI = """\
{
  // servers
  "mcpServers": {
    "files": { "command": "uvx", "args": ["mcp-server-fetch" /* local */], "timeout": 600 },
    "bare": {
      "command": "mcp-bare" // no arguments
    },
    "web": { "httpUrl": "https://example.com/mcp" }
  }
}
"""
CODEX = """\
model = "gpt-5"

[mcp_servers.files] # the tree
command = 'npx' # old
args = ["-y", "@modelcontextprotocol/server-filesystem",
  "/tmp", # here
]
env = { TOKEN = "s3cret" }

[mcp_servers.bare]
command = "mcp-bare"  # no arguments
startup_timeout_sec = 20

[mcp_servers.web]
url = "https://example.com/mcp"

[tui]
theme = "dark"
"""
OPENCODE = """\
{
  "$schema": "https://opencode.ai/config.json",
  "mcp": {
    // here
    "files": {
      "type": "local",
      "command": ["npx", "-y", "server", "/tmp"],
      "enabled": true
    },
    "bare": { "type": "local", "command": ["mcp-bare"] },
    "web": { "type": "remote", "url": "https://example.com/mcp" }
  }
}
"""
OPENCODE_2 = """\
{
  "mcp": {
    "servers": {
      "files": { "type": "local", "command": ["npx", "-y", "server", "/tmp"] },
      "bare": { "type": "local", "command": [ "mcp-bare" ] },
      "web": { "type": "remote", "url": "https://example.com/mcp" }
    },
    "timeout": 5
  }
}
"""
CURSOR = CLAUDE.replace('"type": "stdio",\n      ', "")
VSCODE = """\
{
\t"inputs": [], // asked for
\t"servers": {
\t\t"files": {
\t\t\t"type": "stdio",
\t\t\t"args": ["-y", "server", "${workspaceFolder}"],
\t\t\t"command": "npx"
\t\t},
\t\t"bare": {"command": "mcp-bare"},
\t\t"web": {"type": "http", "url": "https://example.com/mcp"}
\t}
}
"""
COPILOT = """\
{"mcpServers":{"files":{"type":"local","command":"npx","args":["-y","server"],"tools":["*"]},\
"bare":{"type":"local","command":"mcp-bare"},"web":{"type":"http","url":"https://example.com/"}}}"""
TEXTS = {
    "claude-code": CLAUDE,
    "codex": CODEX,
    "gemini-cli": GEMINI,
    "opencode": OPENCODE,
    "opencode-2": OPENCODE_2,
    "cursor": CURSOR,
    "vscode": VSCODE,
    "copilot-cli": COPILOT,
}
