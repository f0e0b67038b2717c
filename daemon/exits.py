"""With which number a daemon ends, and with which sentence it does not begin."""

from __future__ import annotations

OK = 0
FAILED = 1
STALE = 4
# The code was replaced: whoever restarts daemons should start the new one.
REPLACED = 75
BAD_CONFIG = 78


class CannotStart(RuntimeError):
    """Raised where no daemon starts: the sentence to print, and `code`, the exit status."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code
