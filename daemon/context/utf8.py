"""What was asked is text: arguments of a command line may be any bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fabricd.core.plain import is_list

if TYPE_CHECKING:
    from fabricd.core.context.asking import Refused

_SUBJECTS = {"what": "what is named", "paths": "a path"}


def require_utf8(params: Mapping[str, object]) -> None:
    """See that every text among the parameters of a method can be sent.

    Raises:
        Refused: `usage`: one is not UTF-8; says which, and where.
    """
    for name, value in params.items():
        for text in value if is_list(value) else (value,):
            if isinstance(text, str) and not text.isascii():
                _require(name, text)


def _require(name: str, text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise _refusal(_SUBJECTS.get(name, f"the {name}"), text, error.start) from None


def _refusal(subject: str, text: str, at: int) -> Refused:
    from fabricd.core.context.asking import Refused

    code = ord(text[at])
    # What Python makes of a byte on the command line that belongs to no character.
    if 0xDC80 <= code <= 0xDCFF:
        found = f"byte {len(text[:at].encode())} of it is 0x{code - 0xDC00:02x}"
    else:
        found = f"character {at} of it is half a surrogate pair, U+{code:04X}"
    return Refused("usage", f"{subject} is not UTF-8: {found}; expected is text in UTF-8")
