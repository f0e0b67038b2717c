"""Calls and results as an adapter meets them, entered into the table of their log."""

from __future__ import annotations

from collections import OrderedDict
from datetime import datetime

import msgspec
from msgspec import Struct

from fabricd.core.canonical import text, utf8
from fabricd.core.entropy.fingerprint import has_containers, signature
from fabricd.core.history.calls import (
    UNDATED,
    UNKNOWN,
    CallTable,
    Losses,
    Row,
    ident_of,
    key_of,
    within,
)
from fabricd.core.history.judging import NOT_JSON, Judge
from fabricd.core.javascript import NumberOutOfRange
from fabricd.core.nesting import deeper_than
from fabricd.core.plain import MAX_SAFE_INTEGER, is_object
from fabricd.core.sessions.records import Malformed, exact_values_of, values_of

ARGUMENT_LEVELS = 128
_SHAPE = 1024
_REMEMBERED = 64
# Until then a moment is a date in every zone: 9999-12-30, in milliseconds.
END_OF_TIME = 253_402_128_000_000
_WEAK_IDS = frozenset({"", "REDACTED"})


class Arguments(Struct, frozen=True, gc=False):
    """What a model sent: the value where it was JSON, and the text that identifies it.

    `is_whole` says that the log holds all of it: what was cut off is judged by nobody.
    """

    value: object
    identity: bytes
    is_json: bool = True
    is_whole: bool = True


NOTHING = Arguments({}, b"{}")
CUT_OFF = Arguments({}, b"{}", is_whole=False)


def unparsed(raw: str) -> Arguments:
    """Arguments that the model did not write as JSON."""
    return Arguments(None, raw.encode("utf-8", "surrogatepass"), False)


def milliseconds(time: object) -> int:
    """Milliseconds since the epoch of an RFC 3339 text or a number of milliseconds.

    What no calendar has in every zone is `UNDATED`.
    """
    if isinstance(time, str):
        try:
            found = datetime.fromisoformat(time)
        except ValueError:
            return UNDATED
        if found.tzinfo is None:
            return UNDATED
        at = round(found.timestamp() * 1000)
    elif isinstance(time, (int, float)) and not isinstance(time, bool) and time >= 0:
        at = int(min(time, END_OF_TIME))
    else:
        return UNDATED
    return at if 0 <= at < END_OF_TIME else UNDATED


class _Positions(dict[str, int]):
    """Where texts stand among the names of a table; a text that is asked for is entered."""

    def __init__(self, names: list[str]) -> None:
        super().__init__({name: index for index, name in enumerate(names)})
        self._names = names

    def __missing__(self, text: str) -> int:
        position = self[text] = len(self._names)
        self._names.append(text)
        return position


class Recorder:
    """Enters what an adapter reads into a table. It keeps nothing that the table does not."""

    def __init__(self, table: CallTable, judge: Judge) -> None:
        self.table = table
        self._judge = judge
        self._positions = _Positions(table.names)
        self._read: OrderedDict[bytes, Arguments] = OrderedDict()

    @property
    def losses(self) -> Losses:
        """What could not be read."""
        return self.table.losses

    def name(self, text: str) -> int:
        """The position of a text in the table."""
        return self._positions[text]

    def session(self, session: str, parent: str | None = None) -> None:
        """Enter a session that the log names, and the session it was forked from."""
        position = self.name(session)
        self.table.sessions.add(position)
        if parent and parent != session:
            self.table.parents.setdefault(position, self.name(parent))

    def arguments(self, raw: bytes) -> Arguments:
        """Read arguments from their JSON text; remembered for a while, because logs repeat them."""
        found = self._read.get(raw)
        if found is None:
            found = _arguments(raw)
            self._read[raw] = found
            if len(self._read) > _REMEMBERED:
                self._read.popitem(last=False)
        return found

    def call(
        self,
        call_id: str,
        tool: str,
        arguments: Arguments,
        session: str,
        at: int = UNDATED,
        model: str = "",
        project: str = "",
        version: str = "",
        is_weak: bool = False,
        expects: bool = True,
    ) -> bytes:
        """Enter a call; gives its key. A copy in the same log is the same call.

        Args:
            is_weak: the id says little: the session joins the key.
            expects: a result with the same id follows; else `settle` says how the call ended.
        """
        table, positions = self.table, self._positions
        base = key = key_of(table.agent, call_id, tool, arguments.identity)
        is_weak = is_weak or call_id in _WEAK_IDS
        if is_weak:
            key = within(base, session)
        row = table.calls.get(key)
        names = (positions[session], positions[model], positions[project])
        if row is None:
            place, shape = positions[tool], positions[_shape(arguments)]
            row = Row(place, *names, shape, at, ident_of(call_id))
            self._judge_row(row, tool, arguments, version)
            table.calls[key] = row
            if is_weak:
                row.weak = True
                table.bases[key] = base
            if expects and call_id:
                self._expect(call_id, key, row)
        elif _is_before((at, session), (row.at, table.names[row.session])):
            row.at, (row.session, row.model, row.project) = at, names
            self._judge_row(row, tool, arguments, version)
        table.sessions.add(names[0])
        return key

    def result(self, call_id: str, outcome: int) -> bytes | None:
        """Enter a result; gives the key of its call where that stands in this log."""
        waiting = self.table.waiting.get(call_id)
        if not waiting:
            key = self.table.ids.get(call_id)
        else:
            key = waiting.pop(0)
            if not waiting:
                del self.table.waiting[call_id]
        if key is None:
            self._orphan(call_id, outcome, True)
        else:
            self.settle(key, outcome)
        return key

    def event(self, call_id: str, outcome: int) -> None:
        """Enter an outcome that stands beside a call's result: it answers nothing by itself."""
        waiting = self.table.waiting.get(call_id)
        key = waiting[0] if waiting else self.table.ids.get(call_id)
        if key is None:
            self._orphan(call_id, outcome, False)
        else:
            self.settle(key, outcome, False)

    def settle(self, key: bytes, outcome: int, is_answer: bool = True) -> None:
        """Say how a call ended; of several outcomes the greatest stands."""
        row = self.table.calls[key]
        if outcome > row.outcome:
            row.outcome = outcome
        if is_answer:
            row.answered = True

    def _orphan(self, call_id: str, outcome: int, is_answer: bool) -> None:
        orphans, ident = self.table.orphans, ident_of(call_id)
        before, answered = orphans.get(ident, (UNKNOWN, False))
        orphans[ident] = (max(outcome, before), is_answer or answered)

    def undeclared(self, key: bytes) -> None:
        """The agent itself says that nobody declared the tool of a call."""
        self._judge.undeclared(self.table.calls[key])

    def recorded(self, key: bytes, operations: int, refused: int) -> None:
        """A trace beside a call's result recorded operations, some of them rejected."""
        row = self.table.calls[key]
        row.recorded, row.refused = max((operations, refused), (row.recorded, row.refused))

    def checked(
        self, key: bytes, verdict: int, kinds: int, is_repairable: bool, is_repaired: bool
    ) -> None:
        """The log itself says what the schema of its time said of a call, and what became of it."""
        row = self.table.calls[key]
        row.verdict, row.kinds = verdict, kinds
        row.repairable, row.repaired = is_repairable, is_repaired

    def _judge_row(self, row: Row, tool: str, arguments: Arguments, version: str) -> None:
        if not arguments.is_whole:
            return
        if arguments.is_json:
            self._judge.judge(row, self.table.agent, tool, arguments.value, version)
        else:
            self._judge.reject(row, NOT_JSON)

    def _expect(self, call_id: str, key: bytes, row: Row) -> None:
        table = self.table
        table.ids[call_id] = key
        early = table.orphans.pop(row.ident, None)
        if early is None:
            table.waiting.setdefault(call_id, []).append(key)
        else:
            row.outcome, row.answered = early


def _is_before(left: tuple[int, str], right: tuple[int, str]) -> bool:
    # An undated copy says nothing of when: any dated one comes before it.
    def age(pair: tuple[int, str]) -> tuple[bool, int, str]:
        return (pair[0] == UNDATED, *pair)

    return age(left) < age(right)


def _shape(arguments: Arguments) -> str:
    value = arguments.value
    if not is_object(value):
        return "?"
    shape = signature(value)
    if not shape.isascii():
        # Half a pair of surrogates has no encoding in a checkpoint.
        shape = shape.encode("utf-8", "replace").decode()
    return shape if len(shape) <= _SHAPE else shape[:_SHAPE] + "…"


def _arguments(raw: bytes) -> Arguments:
    try:
        value = _value(raw)
    except (Malformed, RecursionError):
        return Arguments(None, raw, False)
    # What holds nothing that nests is seen at once; else its text is looked through.
    is_flat = is_object(value) and not has_containers(value)
    if not is_flat and deeper_than(raw, ARGUMENT_LEVELS):
        return Arguments(None, raw, False)
    return Arguments(value, _identity(value, raw))


def _value(raw: bytes) -> object:
    try:
        value: object = _ANY.decode(raw)
    except msgspec.MsgspecError:
        # Wide integers and lone surrogates; what no reader takes is malformed.
        if len(values_of(raw)) != 1:
            raise Malformed("not one JSON value") from None
        return next(exact_values_of(raw))
    return value


def _identity(value: object, raw: bytes) -> bytes:
    """Equal for values that are equal as JSON, however they were written."""
    try:
        return _SORTED.encode(value)
    except (UnicodeEncodeError, OverflowError):
        pass
    try:
        return utf8(text(value))
    except NumberOutOfRange:
        return raw


def _number(digits: str) -> float:
    value = float(digits)
    # 1.0 and 1 are one number.
    return int(value) if value.is_integer() and abs(value) <= MAX_SAFE_INTEGER else value


_ANY = msgspec.json.Decoder(float_hook=_number)
_SORTED = msgspec.json.Encoder(order="sorted")
