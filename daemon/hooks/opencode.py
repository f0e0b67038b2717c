"""OpenCode: a plugin of our own. Version 1 calls `server`, version 2 calls `setup`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from fabricd.daemon.hooks.generated import ASK, Plugin
from fabricd.store.addresses import absolute

_FILE = "fabricd.js"
_REPAIR_FILE = "fabricd-repair.js"
_BODY = """\
// Version 1: a hook that is shown every event.
async function server(host) {
  return {
    event: async (input) => {
      const event = input?.event;
      if (event?.type !== "session.idle") return;
      tell({ session: event.properties?.sessionID, cwd: host?.directory });
    },
  };
}

const ENDED = [
  "session.execution.succeeded",
  "session.execution.failed",
  "session.execution.interrupted",
];

// Version 2: a stream of events, where there is one.
async function setup(host) {
  let events;
  try {
    events = host?.event?.subscribe?.()?.[Symbol.asyncIterator]?.();
  } catch {
    // A host that offers no events is told nothing about it.
  }
  if (events === undefined) return;
  const listen = async () => {
    for (let next = await events.next(); !next.done; next = await events.next()) {
      const event = next.value;
      if (!ENDED.includes(event?.type)) continue;
      const cwd = event.location?.directory ?? host.location?.directory;
      tell({ session: event.data?.sessionID, cwd });
    }
  };
  listen().catch(() => {});
  return async () => {
    try {
      await events.return?.();
    } catch {
      // It has ended, which is all that was wanted.
    }
  };
}

export default { id: "fabricd", server, setup };
"""


_REPAIR_BODY = """\
async function server() {
  return {
    "tool.execute.before": async (input, output) => {
      await repair(input?.tool, output?.args);
    },
  };
}

// Version 2 offers nothing of the kind yet.
async function setup() {}

export default { id: "fabricd-repair", server, setup };
"""


class OpenCode:
    """OpenCode."""

    name = "opencode"
    title = "OpenCode"
    program = "opencode"
    form = Plugin("opencode", _BODY)
    repair = Plugin("opencode", _REPAIR_BODY, ASK)
    repair_file = _REPAIR_FILE

    def home(self, env: Mapping[str, str]) -> Path:
        """`opencode` in `XDG_CONFIG_HOME`, else in `~/.config`, on every system."""
        base = env.get("XDG_CONFIG_HOME", "")
        return Path(base if os.path.isabs(base) else absolute("~/.config", env)) / "opencode"

    def path(self, home: Path) -> Path:
        """The user's plugin."""
        return home / "plugins" / _FILE

    def project_path(self, project: Path) -> Path:
        """The project's plugin."""
        return project / ".opencode" / "plugins" / _FILE

    def switch(self, home: Path) -> Path | None:
        """Nothing turns plugins off."""
        return None

    def muted(self, text: str | None, switch: str | None) -> str | None:
        """Never."""
        return None

    def advice(self, scope: Literal["user", "project"]) -> tuple[str, ...]:
        """When it takes effect."""
        return ("OpenCode loads its plugins when it starts: restart it",)
