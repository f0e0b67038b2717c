"""The calls of one log, as far as it was read: a table that joins with the tables of other logs.

A table holds names, numbers and 16-byte keys, never an argument value. Copies of a call have equal
keys in whatever file they stand, so that the join counts it once.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Literal, TypeAlias

from msgspec import Struct, field

AgentName: TypeAlias = Literal[
    "pi", "claude-code", "codex", "copilot-cli", "opencode", "gemini-cli", "gateway"
]
AGENTS: tuple[AgentName, ...] = (
    "pi",
    "claude-code",
    "codex",
    "copilot-cli",
    "opencode",
    "gemini-cli",
    "gateway",
)

# Those that call tools themselves; the gateway's log says of its calls what was declared.
READ_AGENTS = tuple(agent for agent in AGENTS if agent != "gateway")

# Outcomes in the order in which one copy's outcome gives way to another's.
UNKNOWN, SUCCEEDED, ABORTED, TIMED_OUT, FAILED = range(5)
OUTCOME_NAMES = ("unknown", "succeeded", "aborted", "timedOut", "failed")

# What the declared schema of its time says of a call. A name nobody declared is UNDECLARED.
NO_SCHEMA, VALID, INVALID, UNDECLARED = range(4)

UNDATED = -1
KEY_BYTES = 16


class Row(Struct, array_like=True, gc=False):
    """One call of a log. Texts are positions in the table's `names`; 0 is the empty text.

    Attributes:
        at: milliseconds since the epoch, or `UNDATED`.
        answered: a result was seen.
        verdict: `NO_SCHEMA`, `VALID`, `INVALID` or `UNDECLARED`.
        kinds: the malformations of an invalid call, one bit each (`malformation.SLUGS`).
        repairable: a normal form makes it valid.
        ident: a hash of the call id, for results that stand in another file.
        weak: the id says little, so that the session joins the key.
        recorded, refused: the operations that a trace beside the result recorded, and how many of
            them were rejected.
        repaired: it was repaired on its way.
    """

    tool: int
    session: int
    model: int
    project: int
    shape: int
    at: int
    ident: int
    outcome: int = UNKNOWN
    answered: bool = False
    verdict: int = NO_SCHEMA
    kinds: int = 0
    repairable: bool = False
    weak: bool = False
    recorded: int = 0
    refused: int = 0
    repaired: bool = False


class Losses(Struct, gc=False):
    """What could not be read: damaged lines, glued ones, cut last lines, records over the cap."""

    bad_lines: int = 0
    glued_lines: int = 0
    cut_tails: int = 0
    overlong_lines: int = 0

    def add(self, more: Losses) -> None:
        """Add another log's losses."""
        self.bad_lines += more.bad_lines
        self.glued_lines += more.glued_lines
        self.cut_tails += more.cut_tails
        self.overlong_lines += more.overlong_lines


class CallTable(Struct):
    """The calls of one log in the order in which they first stand there.

    Attributes:
        sessions: every session the log names, as positions in `names`.
        parents: a fork's session → the session it was copied from.
        calls: by key; of a weak call by the key with its session in it.
        bases: the key without session of each weak call.
        ids: the key of the last call with an id.
        waiting: calls without a result, by id, oldest first.
        orphans: results whose call was not seen in this log, by `ident_of` the id: the outcome, and
            whether it was an answer or stood beside one.
        context: what the adapter remembers from one pass to the next.
    """

    agent: AgentName
    names: list[str] = field(default_factory=lambda: [""])
    sessions: set[int] = field(default_factory=set[int])
    parents: dict[int, int] = field(default_factory=dict[int, int])
    calls: dict[bytes, Row] = field(default_factory=dict[bytes, Row])
    bases: dict[bytes, bytes] = field(default_factory=dict[bytes, bytes])
    ids: dict[str, bytes] = field(default_factory=dict[str, bytes])
    waiting: dict[str, list[bytes]] = field(default_factory=dict[str, list[bytes]])
    orphans: dict[int, tuple[int, bool]] = field(default_factory=dict[int, tuple[int, bool]])
    context: dict[str, str] = field(default_factory=dict[str, str])
    losses: Losses = field(default_factory=Losses)


def ident_of(call_id: str) -> int:
    """A call id as 63 bits."""
    raw = blake2b(call_id.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(raw, "big") >> 1


def key_of(agent: str, call_id: str, tool: str, arguments: bytes) -> bytes:
    """The key of a call: equal for copies, whatever file and session they stand in.

    Args:
        arguments: their canonical text, or what the model wrote instead of JSON.
    """
    head = f"{agent}\0{call_id}\0{tool}\0".encode("utf-8", "surrogatepass")
    return blake2b(head + arguments, digest_size=KEY_BYTES).digest()


def within(key: bytes, session: str) -> bytes:
    """The key of a weak call inside a session."""
    raw = session.encode("utf-8", "surrogatepass")
    return blake2b(key + raw, digest_size=KEY_BYTES).digest()
