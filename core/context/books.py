"""The books: what agents were given, fetched and read again, by what their own logs show.

A tool result that shows the id of a receipt that was given here links it to the session. Of what
no session's log shows nothing is claimed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import Literal, NamedTuple, TypeAlias

from msgspec import Struct

from fabricd.core.context.receipt import Receipt
from fabricd.core.context.rereading import path_of
from fabricd.core.history.calls import AgentName
from fabricd.core.plain import counted, printable

# Agents that read files by running programs: what those print is not typed as a part of a file.
WITHOUT_READ_TOOL: frozenset[AgentName] = frozenset({"codex", "gateway"})

Kind: TypeAlias = Literal["show", "recover"]
Place: TypeAlias = tuple[int, int]


class Delivered(Struct, frozen=True):
    """An answer as the books know it.

    Attributes:
        used: its tokens.
        whole: for the digest of a path the lines that it gave whole.
    """

    used: int
    whole: dict[bytes, tuple[Place, ...]]


class Fetch(Struct, frozen=True):
    """Something that was shown or recovered on request.

    Attributes:
        at: milliseconds since 1970.
        session: the agent's own name of its session, where it told one.
        name: of what was shown the receipt, of what was recovered the handle.
    """

    at: int
    root: str
    session: str | None
    kind: Kind
    name: str
    tokens: int


class Book(Struct, frozen=True, rename="camel"):
    """One session of an agent, in tokens.

    Attributes:
        gross: what selections gave it.
        recovered: what it then had shown or recovered.
        reread: lines that it was given whole and read again with its own tool. None: nobody knows.
        net: the sum of the three: what the context cost. None where one of them is.
        why: why something is unavailable.
    """

    agent: AgentName
    session: str
    selections: int
    gross: int
    recovered: int
    reread: int | None
    net: int | None
    why: str = ""


class Books(Struct, frozen=True, rename="camel"):
    """All sessions, and what belongs to none that is known.

    Attributes:
        unlinked: deliveries of receipts that no session's log shows.
        unlinked_tokens: what those gave.
    """

    sessions: tuple[Book, ...]
    unlinked: int
    unlinked_tokens: int
    why: str = ""


class Session(NamedTuple):
    """A session by its agent."""

    agent: AgentName
    name: str


class Fact(Struct, gc=False):
    """What one result says."""

    receipts: tuple[str, ...] = ()
    handle: str = ""
    selections: int = 0
    gross: int = 0
    recovered: int = 0
    reread: int = 0

    @property
    def is_empty(self) -> bool:
        return not (self.receipts or self.recovered or self.reread)


class Ledger:
    """What all logs say together; each call counts once, however many logs tell of it."""

    def __init__(
        self,
        count: Callable[[str], int],
        known: Callable[[str], Delivered | None],
        fetches: Iterable[Fetch] = (),
        resolve: Callable[[str], str] = path_of,
    ) -> None:
        """Begin.

        Args:
            count: the tokens of a text.
            known: the answer of a receipt, where it was given here.
            fetches: what was shown and recovered, by whatever way it was asked.
            resolve: the one name of an absolute path.
        """
        self.count = count
        self.known = known
        self.resolve = resolve
        self._fetches = tuple(fetches)
        self.shows = {fetch.name for fetch in self._fetches if fetch.kind == "show"}
        self._facts: dict[Session, dict[bytes, Fact]] = {}

    def enter(self, session: Session, key: bytes, fact: Fact, is_last: bool) -> None:
        """Enter what a result says, once for all its copies."""
        facts = self._facts.setdefault(session, {})
        if fact.is_empty:
            if is_last:
                facts.pop(key, None)
        elif is_last or key not in facts:
            facts[key] = fact

    def books(self, deliveries: Iterable[tuple[str, int]]) -> Books:
        """Close the books.

        Args:
            deliveries: receipt and tokens of each delivery.
        """
        links = self._links()
        fetched = self._untyped(links)
        shown = set[str]().union(*links.values())
        left = [used for receipt, used in deliveries if receipt not in shown]
        return Books(
            tuple(self._book(session, fetched[session]) for session in sorted(links)),
            len(left),
            sum(left),
            "no session's log shows their receipts" if left else "",
        )

    def _untyped(self, links: dict[Session, set[str]]) -> Counter[Session]:
        """Tokens that were recovered where no log types it: on the command line."""
        typed = Counter(
            (session, fact.handle)
            for session, facts in self._facts.items()
            for fact in facts.values()
            if fact.handle
        )
        found = Counter[Session]()
        for fetch in self._fetches:
            session = _session_of(fetch, links) if fetch.kind == "recover" else None
            if session is None:
                continue
            if typed[session, fetch.name]:
                typed[session, fetch.name] -= 1
            else:
                found[session] += fetch.tokens
        return found

    def _links(self) -> dict[Session, set[str]]:
        found = {
            session: {receipt for fact in facts.values() for receipt in fact.receipts}
            for session, facts in self._facts.items()
        }
        return {session: receipts for session, receipts in found.items() if receipts}

    def _book(self, session: Session, fetched: int) -> Book:
        facts = self._facts[session].values()
        gross = sum(fact.gross for fact in facts)
        recovered = sum(fact.recovered for fact in facts) + fetched
        reread: int | None = sum(fact.reread for fact in facts)
        why = ""
        if session.agent in WITHOUT_READ_TOOL:
            reread, why = None, f"{session.agent} has no typed read tool"
        return Book(
            session.agent,
            session.name,
            sum(fact.selections for fact in facts),
            gross,
            recovered,
            reread,
            None if reread is None else gross + recovered + reread,
            why,
        )


def path_digest(path: str) -> bytes:
    """What the books keep of a path."""
    return sha256(path.encode("utf-8", "surrogatepass")).digest()[:16]


def delivered_of(
    receipt: Receipt, roots: Iterable[str], resolve: Callable[[str], str] = path_of
) -> Delivered:
    """What the books know of an answer that was given in some projects."""
    whole: dict[bytes, tuple[Place, ...]] = {}
    for root in roots:
        for item in receipt.items:
            if item.level == "full":
                digest = path_digest(resolve(f"{root}/{item.path}"))
                whole[digest] = (*whole.get(digest, ()), (item.start, item.end))
    return Delivered(receipt.used, whole)


def _session_of(fetch: Fetch, links: dict[Session, set[str]]) -> Session | None:
    """Whose fetch it is, where there is one answer."""
    named = [session for session in links if fetch.session and session.name == fetch.session]
    receipt, _, _ = fetch.name.partition("#")
    shown = [session for session, receipts in links.items() if receipt in receipts]
    for found in (named, shown):
        if len(found) == 1:
            return found[0]
    return None


def booked_words(books: Books) -> str:
    """The books in lines; empty where nothing was given."""
    lines = [_words(book) for book in books.sessions]
    if books.unlinked:
        answers = counted(books.unlinked, "answer", "answers")
        lines.append(f"unavailable: {answers} of {books.unlinked_tokens:,} tokens; {books.why}")
    return "".join(f"{line}\n" for line in lines)


def _words(book: Book) -> str:
    given = f"gross {book.gross:,} + recovered {book.recovered:,}"
    if book.reread is None or book.net is None:
        rest = f"reread unavailable, net unavailable ({book.why})"
    else:
        rest = f"reread {book.reread:,} = net {book.net:,} tokens"
    joint = ", " if book.net is None else " + "
    return f"{book.agent} {printable(book.session)}: {given}{joint}{rest}"
