"""The reader of each agent's log, for records one by one and for documents."""

from __future__ import annotations

from fabricd.core.history.calls import AgentName
from fabricd.core.sessions.adapting import Adapter
from fabricd.core.trajectory.sessions.matching import Log


class Unread(ValueError):
    """Raised where no tool results are read from such a log. The message says why."""


def reader_for(agent: AgentName, log: Log) -> Adapter:
    """The reader of a log of lines.

    Raises:
        Unread: this agent writes none.
    """
    # Imported here: a run needs the reader of one agent.
    match agent:
        case "claude-code":
            from fabricd.core.trajectory.sessions.claude_code import ClaudeCodeResults

            return ClaudeCodeResults(log)
        case "codex":
            from fabricd.core.trajectory.sessions.codex import CodexResults

            return CodexResults(log)
        case "copilot-cli":
            from fabricd.core.trajectory.sessions.copilot_cli import CopilotCliResults

            return CopilotCliResults(log)
        case "gemini-cli":
            from fabricd.core.trajectory.sessions.gemini_cli import GeminiCliResults

            return GeminiCliResults(log)
        case "pi":
            from fabricd.core.trajectory.sessions.pi import PiResults

            return PiResults(log)
        case "opencode" | "gateway":
            raise Unread(f"{agent} keeps no log of lines that is read here")


def read_document(agent: AgentName, data: bytes, log: Log) -> None:
    """Read a session kept as one document.

    Raises:
        Unread: this agent writes none.
        Malformed: it is no JSON, or nests too deep.
    """
    match agent:
        case "opencode":
            from fabricd.core.trajectory.sessions.opencode import read_opencode

            read_opencode(data, log)
        case "gemini-cli":
            from fabricd.core.trajectory.sessions.gemini_cli import read_gemini

            read_gemini(data, log)
        case _:
            raise Unread(f"{agent} keeps no documents")
