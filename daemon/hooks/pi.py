"""Pi: an extension of our own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from fabricd.daemon.hooks.generated import ASK, Plugin
from fabricd.store.homes import agent_dir

_FILE = "fabricd.ts"
_REPAIR_FILE = "fabricd-repair.ts"
_BODY = """\
export default function (pi) {
  pi.on("turn_end", (_event, context) => {
    try {
      const session = context?.sessionManager;
      tell({
        session: session?.getSessionId?.(),
        transcript: session?.getSessionFile?.(),
        cwd: context?.cwd,
      });
    } catch {
      // Nothing here may ever become the agent's business.
    }
  });
}
"""


_REPAIR_BODY = """\
export default function (pi) {
  pi.on("tool_call", async (event) => {
    await repair(event?.toolName, event?.input);
  });
}
"""


class Pi:
    """Pi."""

    name = "pi"
    title = "Pi"
    program = "pi"
    form = Plugin("pi", _BODY)
    repair = Plugin("pi", _REPAIR_BODY, ASK)
    repair_file = _REPAIR_FILE

    def home(self, env: Mapping[str, str]) -> Path:
        """`PI_CODING_AGENT_DIR`, else `~/.pi/agent`."""
        return agent_dir(env)

    def path(self, home: Path) -> Path:
        """The user's extension."""
        return home / "extensions" / _FILE

    def project_path(self, project: Path) -> Path:
        """The project's extension."""
        return project / ".pi" / "extensions" / _FILE

    def switch(self, home: Path) -> Path | None:
        """Nothing turns extensions off."""
        return None

    def muted(self, text: str | None, switch: str | None) -> str | None:
        """Never."""
        return None

    def advice(self, scope: Literal["user", "project"]) -> tuple[str, ...]:
        """When it takes effect."""
        first = "in a Pi that runs, /reload loads it"
        if scope == "project":
            return (first, "extensions of a project load only once Pi trusts the project")
        return (first,)
