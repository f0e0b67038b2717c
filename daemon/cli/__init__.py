"""The command line. Each command lives in its own module and is imported when it is called."""

from __future__ import annotations

import gc
import sys

# What a command imports lives to its end: to search it for cycles time and again is a tenth of a
# short command's life. The daemon keeps the interpreter's own threshold.
_COLLECT_AFTER = 50_000


def main() -> int:
    """Run a command; gives the exit code."""
    arguments = sys.argv[1:]
    if arguments[:1] != ["run"]:
        gc.set_threshold(_COLLECT_AFTER)
    if arguments in (["status"], ["status", "--json"]):
        # Ahead of click, whose import is a third of what this call may take.
        from fabricd.daemon.cli.asking import status
        from fabricd.daemon.cli.talk import ended

        return ended(lambda: status(as_json=len(arguments) == 2))
    if arguments == ["mcp"]:
        # Ahead of everything: each agent starts one and waits for its first reply.
        from fabricd.ipc.context.relay import main as relay

        return relay()
    if arguments[:1] == ["wrap"]:
        # Ahead of click too: whoever wraps a server waits for its first reply.
        from fabricd.daemon.cli.talk import ended
        from fabricd.daemon.cli.wrap.run import is_wrapping, wrap

        if is_wrapping(arguments):
            return ended(lambda: wrap(arguments))
    from fabricd.daemon.cli.root import run

    return run(arguments)
