"""What of a call's arguments may be counted, and under which identity.

A value is kept in clear only where it is short and does not look like a secret; anything else
counts for its argument and leaves no trace, not even a hash that could confirm a guess.

Names that a reader of the pool's file would refuse (blank, with outer white space, with a NUL or
half a surrogate pair) are held as JSON string literals; a name that starts with a quotation mark
always is such a literal.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from hashlib import blake2b, sha256
from math import isfinite

from msgspec import Struct

from fabricd.core.canonical import string_text
from fabricd.core.entropy.observations import Observed, Scalar, typed_text
from fabricd.core.javascript import NumberOutOfRange, has_lone_surrogate, trim, unit_length
from fabricd.core.model import AuditCall
from fabricd.core.normalform.derive import MAX_REF

MAX_VALUE = 256
MAX_KEY = 1024
MAX_NAME = 512
# A name of a thousand units that are all spelled out, in quotation marks.
MAX_WRITTEN = 6 * MAX_KEY + 2
OTHER = "other"
_OPAQUE = re.compile(r"[A-Za-z0-9_+/=.-]{20,}")
# A known token anywhere in a text, a password in an address, an assignment to a secret's name.
_TOKEN = re.compile(
    r"(?<![A-Za-z0-9])(?:(?:sk|pk|rk)[-_][A-Za-z0-9]|gh[opsur]_|github_pat_|glpat-|xox[abeoprs]-|"
    r"AKIA|ASIA|AIza|npm_|pypi-|hf_|eyJ|ya29\.)|-----BEGIN |"
    r"://[^/\s]*:[^/\s]*@|(?i:\bbearer\s+\S|\bbasic\s+[A-Za-z0-9+/=]{8}|"
    r"(?:passw(?:or)?d|pwd|passphrase|token|secret|api[-_]?key)[\"']?\s*[=:]\s*\S)"
)
_SECRET_NAME = re.compile(
    r"token|secret|password|passwd|passphrase|passcode|apikey|privatekey|accesskey|authorization|"
    r"cookie|credential|connectionstring|(?:pwd|pass|auth|bearer|otp|pin|pat)\Z"
)
_COUNTED_NAME = re.compile(
    r"(?:max|min|num|total|count|used|budget|limit)[a-z]*tokens?\Z|tokens?(?:count|limit|budget)\Z|"
    r"tokeni[sz]er\Z"
)
_NO_WORD = re.compile(r"[^a-z0-9]")


class Identity(Struct, frozen=True, gc=False):
    """An argument and a value of it; names as `written_name` gives them.

    `kind` is the value's JavaScript type, or `OTHER` for what is not kept in clear.
    """

    ref: str
    key: str
    kind: str
    text: str = ""

    @property
    def name(self) -> str:
        """The text that identifies it in the pool's file."""
        return f"{self.ref}\0{self.key}\0{self.kind}:{self.text}"

    @property
    def digest(self) -> int:
        """Eight bytes of a hash of the name."""
        raw = self.name.encode("utf-8", "surrogatepass")
        return int.from_bytes(blake2b(raw, digest_size=8).digest(), "big")


def written_name(name: str) -> str:
    """A name as the pool holds it."""
    odd = not name or name[0] == '"' or name != trim(name) or "\0" in name
    return string_text(name) if odd or has_lone_surrogate(name) else name


def read_name(name: str) -> str:
    """The name that a text of the pool stands for."""
    if not name.startswith('"'):
        return name
    try:
        value = json.loads(name)
    except ValueError:
        return name
    return value if isinstance(value, str) else name


def session_name(name: str) -> str:
    """A session id or path as the pool holds it: one that is very long by its hash."""
    if len(name) > MAX_NAME:
        return f"sha256:{sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()}"
    return written_name(name)


def is_secret_name(key: str) -> bool:
    """Whether an argument by its name holds a secret."""
    word = _NO_WORD.sub("", key.lower())
    return _SECRET_NAME.search(word) is not None and _COUNTED_NAME.match(word) is None


def looks_secret(text: str) -> bool:
    """Whether a value could be a secret: a known prefix, or a long run of letters and digits."""
    if _TOKEN.search(text):
        return True
    return any(
        any(char.isdigit() for char in run) and any(char.isalpha() for char in run)
        for run in _OPAQUE.findall(text)
    )


def identity_of(ref: str, key: str, value: Scalar) -> Identity:
    """Under which identity a value of an argument is counted; names as the pool holds them."""
    hidden = Identity(ref, key, OTHER)
    if is_secret_name(key):
        return hidden
    try:
        kind, text = typed_text(value)
    except NumberOutOfRange:
        return hidden
    if kind == "number":
        # An infinite number has no text of its own.
        return hidden if text == "null" else Identity(ref, key, kind, text)
    is_kept = len(text) <= MAX_VALUE and not has_lone_surrogate(text) and not looks_secret(text)
    fits = is_kept and len(text.encode()) <= MAX_VALUE
    return Identity(ref, key, kind, text) if fits else hidden


def value_of(identity: Identity) -> Scalar:
    """The value that an identity stands for.

    Raises:
        ValueError: a number's text is none.
    """
    match identity.kind:
        case "boolean":
            return identity.text == "true"
        case "number":
            number = float(identity.text)
            return int(number) if number.is_integer() and abs(number) < 2**53 else number
        case _:
            return identity.text


def is_value(identity: Identity) -> bool:
    """Whether an identity read from a file stands for a value that a file can hold."""
    try:
        value = value_of(identity)
    except ValueError:
        return False
    return not isinstance(value, float) or isfinite(value)


def identities_of(call: AuditCall) -> Iterator[Identity]:
    """What one audit call adds to the pool."""
    if unit_length(call.ref) > MAX_REF:
        return
    ref = written_name(call.ref)
    for key, value in call.args.items():
        if not isinstance(value, (str, bool, int, float)):
            continue
        if len(key.encode("utf-8", "surrogatepass")) <= MAX_KEY and not looks_secret(key):
            yield identity_of(ref, written_name(key), value)


def in_clear(observed: Iterable[Observed]) -> list[Observed]:
    """The observations of arguments all of whose values may be shown: as a pool would know them."""
    rows = list(observed)
    hidden = {
        (row.ref, row.key) for row in rows if identity_of(row.ref, row.key, row.value).kind == OTHER
    }
    return [row for row in rows if (row.ref, row.key) not in hidden]
