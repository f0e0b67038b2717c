"""The hook as a file of our own that an agent loads: a marker line says that it is ours."""

from __future__ import annotations

import json
import re

from msgspec import Struct

from fabricd.core.plain import is_list
from fabricd.daemon.hooks.edits import Change, Edit, Refused, Same, Unfit
from fabricd.daemon.hooks.program import is_ours

_MARKER = "// fabricd-hook:"
_COMMAND = re.compile(r"^const COMMAND = (\[.*\]);\r?$", re.MULTILINE)
_FOREIGN = "it was not written by fabricd: move it away"
# What both plugins share: one detached process a turn, whose fate does not matter to the agent.
_TELL = """\
import { spawn } from "node:child_process";

const COMMAND = %s;

function tell(facts) {
  try {
    const words = COMMAND.slice(1);
    for (const [name, value] of Object.entries(facts)) {
      if (typeof value === "string" && value !== "") words.push(`--${name}=${value}`);
    }
    const child = spawn(COMMAND[0], words, { detached: true, stdio: "ignore" });
    child.on("error", () => {});
    child.unref();
  } catch {
    // Nothing here may ever become the agent's business.
  }
}
"""

# What both repairing plugins share: a call waits for its repair a third of a second at most, and
# is left as it is on any doubt. What comes back was validated after it had been rewritten.
ASK = """\
import { spawn } from "node:child_process";

const COMMAND = %s;
const PATIENCE = 350;
const MOST = 4194304;

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function asked(tool, args) {
  return new Promise((resolve) => {
    let text = "";
    let child;
    const timer = setTimeout(() => end(undefined), PATIENCE);
    const end = (found) => {
      clearTimeout(timer);
      resolve(found);
      child?.kill();
      child?.stdout?.destroy();
      child?.unref();
    };
    try {
      const input = JSON.stringify({ tool_name: tool, tool_input: args });
      child = spawn(COMMAND[0], COMMAND.slice(1), { stdio: ["pipe", "pipe", "ignore"] });
      child.on("error", () => end(undefined));
      child.stdin.on("error", () => {});
      child.stdout.setEncoding("utf8");
      child.stdout.on("data", (part) => {
        text += part;
        if (text.length > MOST) end(undefined);
      });
      child.on("close", () => {
        try {
          end(JSON.parse(text).arguments);
        } catch {
          end(undefined);
        }
      });
      child.stdin.end(input);
    } catch {
      end(undefined);
    }
  });
}

async function repair(tool, args) {
  try {
    if (typeof tool !== "string" || !isObject(args)) return;
    const found = await asked(tool, args);
    if (!isObject(found) || Object.hasOwn(found, "__proto__")) return;
    for (const name of Object.keys(args)) {
      if (!Object.hasOwn(found, name)) delete args[name];
    }
    Object.assign(args, found);
  } catch {
    // Nothing here may ever become the agent's business.
  }
}
"""


class Plugin(Struct, frozen=True):
    """A file of our own for an agent.

    Attributes:
        body: calls what the prelude has: `tell(facts)` when a turn has ended, or
            `repair(tool, args)` before a call.
    """

    agent: str
    body: str
    prelude: str = _TELL

    def source(self, words: tuple[str, ...]) -> str:
        """The whole file, which runs these words."""
        marker = (
            f'{_MARKER} written by fabricd, removed by "fabricd hook uninstall {self.agent}".\n'
        )
        # Escaped: no character ends a line of JavaScript before its time.
        return marker + self.prelude % json.dumps(list(words)) + "\n" + self.body

    def install(self, text: str | None, words: tuple[str, ...]) -> Edit:
        """The file, in place of none or of one of ours."""
        wanted = self.source(words)
        if text is None:
            return Change(wanted, "installed")
        if not _is_ours(text):
            return Refused(_FOREIGN)
        return Same("already_installed") if text == wanted else Change(wanted, "updated")

    def uninstall(self, text: str | None) -> Edit:
        """No file, where there was one of ours."""
        if text is None:
            return Same("already_uninstalled")
        return Change(None, "uninstalled") if _is_ours(text) else Refused(_FOREIGN)

    def commands(self, text: str | None) -> tuple[tuple[str, ...], ...]:
        """The words of a file of ours.

        Raises:
            Unfit: the file is not ours, or its command was changed beyond reading.
        """
        if text is None:
            return ()
        if not _is_ours(text):
            raise Unfit(_FOREIGN)
        words = _words(text)
        if not is_ours(words):
            raise Unfit("it carries our mark, but its command cannot be told: install it again")
        return (words,)


def _words(text: str) -> tuple[str, ...]:
    found = _COMMAND.search(text)
    try:
        value: object = json.loads(found.group(1)) if found else None
    except ValueError:
        return ()
    return tuple(str(word) for word in value) if is_list(value) else ()


def _is_ours(text: str) -> bool:
    return text.removeprefix("\ufeff").startswith(_MARKER)
