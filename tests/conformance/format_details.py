"""The formats, and the classes of texts, where the reference strays from the standard.

Each entry says which texts of a format it is about and what the reference answers of those; what
we answer is the standard's rule, which `formats` states. Texts outside every class are no excuse.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.conformance.dialects import Refused, matcher
from tests.conformance.formats import STANDARD, is_ipv6
from tests.conformance.values import Unstated, keys_of, objects_in, walk

Question = Callable[[str], bool]


@dataclass(frozen=True)
class Detail:
    """Texts of one format, and what the reference says of them."""

    concerns: Question
    reference: Question


def _always(text: str) -> bool:
    return True


def _searching(form: str) -> Question:
    compiled = re.compile(form, re.S)
    return lambda text: compiled.search(text) is not None


def _matching(form: str) -> Question:
    compiled = re.compile(form)
    return lambda text: compiled.fullmatch(text) is not None


# --- mail and hosts: no quoted local part, no address literal, rough tables beyond ASCII

_LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_MAIL = rf"{_ATOM}(?:\.{_ATOM})*@{_LABEL}(?:\.{_LABEL})*"
_ODD_MAIL = r"^\"|@\[|(?i:xn--)"


def _is_mail_of_letters(text: str) -> bool:
    """Whether a text is mail with each letter and digit beyond ASCII taken for a plain one."""
    plain = [
        "x" if not char.isascii() and unicodedata.category(char)[0] in "LN" else char
        for char in text
    ]
    return re.fullmatch(_MAIL, "".join(plain)) is not None


def _has_colon_behind(text: str) -> bool:
    """Whether a colon too many stands behind an address."""
    return text[-1:] == ":" and text[-2:] != "::" and is_ipv6(text[:-1])


# --- identifiers: one pass over the text instead of the grammar

_ESCAPED = "%[0-9A-Fa-f]{2}"
_PLAIN = r"A-Za-z0-9._~!$&'()*+,;=\-"
_REST = rf"(?:[{_PLAIN}:@/?#]|{_ESCAPED})*"
_PASSED = re.compile(rf"[A-Za-z][A-Za-z0-9+.-]*:(?://([^/?#]*))?({_REST})")
_PASSED_AUTHORITY = re.compile(
    rf"(?:(?:[{_PLAIN}:]|{_ESCAPED})*@)?"
    rf"(?:\[[^\]]*\](?::[0-9]*|(?!:){_REST})|[{_PLAIN}\u0080-\U0010ffff]*(?::[0-9]*)?)"
)
_ODD_URI = r"[^\x00-\x7f]|#.*#|//[^/?#]*[\[%]"
_ODD_REFERENCE = r"[\x00-\x20\"\x7f\[\]%:]|#.*#"
_ODD_WIDE_REFERENCE = r"[\"<>^`{|}\[\]]|#.*#|^[^/?#]*:|^[^/?#]+//"
_LOOSE = r"[^\t-\r \[\]{}<>^`|\\\u0080-\U0010ffff]*"
_SPACED = r"[\x00-\x20\"<>\\^`{|}\x7f\[\]]|%(?![0-9A-Fa-f]{2})|#.*#"


def _passes_as_uri(text: str) -> bool:
    found = _PASSED.fullmatch(text)
    return found is not None and _PASSED_AUTHORITY.fullmatch(found[1] or "") is not None


def _passes_as_reference(text: str) -> bool:
    """Whether a name before two slashes is a scheme, or the parser of addresses has its way."""
    return ":" in text or re.match(r"[A-Za-z][A-Za-z0-9+.-]*//", text) is None


# --- addresses of the web: known to the reference alone

_LETTERS = "a-zA-Z\u00a1-\uffff"
_NAME = f"(?:[0-9{_LETTERS}]+-)*[0-9{_LETTERS}]+"
_INNER = r"(?:10|127|169\.254|192\.168|172\.(?:1[6-9]|2[0-9]|3[01]))\."
_FIRST = "(?:[1-9][0-9]?|1[0-9]{2}|2[01][0-9]|22[0-3])"
_MIDDLE = "(?:1?[0-9]{1,2}|2[0-4][0-9]|25[0-5])"
_LAST = "(?:[1-9][0-9]?|1[0-9]{2}|2[0-4][0-9]|25[0-4])"
_PUBLIC = (
    rf"(?!{_INNER}){_FIRST}(?:\.{_MIDDLE}){{2}}\.{_LAST}|{_NAME}(?:\.{_NAME})*\.[{_LETTERS}]{{2,}}"
)
_URL = rf"(?i:https?|ftp)://(?:\S+@)?(?:{_PUBLIC})(?::[0-9]{{2,5}})?(?:/\S*)?"
_FRAGMENT = r"#(?:/(?:[A-Za-z0-9_\-.!$&'()*+,;:=@]|%[0-9A-Fa-f]{2}|~[01])*)*"

# --- regular expressions: none that is empty, but those of the lax grammar

_GROUPED = re.compile(r"\\[pPu]\{[^}]*\}|\\.|\[(?:\\.|[^\]\\])*\]|\{[0-9]+(?:,[0-9]*)?\}", re.S)
_STRANGE = frozenset("aeghijlmoqyzACEFGHIJKLMNOQRTUVXYZ")


def _is_lax(text: str) -> bool:
    """Whether a bracket or brace stands alone, or a letter is escaped that means nothing."""
    letters = {found[1] for found in re.finditer(r"\\(.)", text, re.S)}
    alone = not set("]{}").isdisjoint(_GROUPED.sub("", text))
    return alone or not letters.isdisjoint(_STRANGE)


def _is_strict(text: str) -> bool:
    """Whether a text has nothing but what all dialects know; of any other nothing is said."""
    try:
        return bool(matcher(text, reference=True))
    except Refused:
        raise Unstated("a regular expression of some dialects") from None


DETAILS: Mapping[str, Detail] = {
    "email": Detail(_searching(_ODD_MAIL), _matching(_MAIL)),
    "hostname": Detail(_searching("(?i:xn--)"), _always),
    "idn-email": Detail(_searching(rf"{_ODD_MAIL}|[^\x00-\x7f]"), _is_mail_of_letters),
    "idn-hostname": Detail(_searching(r"[^A-Za-z0-9. -]|(?i:xn--)"), _always),
    "ipv6": Detail(_has_colon_behind, _always),
    "iri": Detail(_searching(_SPACED), _always),
    "iri-reference": Detail(_searching(_ODD_WIDE_REFERENCE), _passes_as_reference),
    "json-pointer-uri-fragment": Detail(_always, _matching(_FRAGMENT)),
    "regex": Detail(lambda text: not text or _is_lax(text), lambda text: text != ""),
    "uri": Detail(_searching(_ODD_URI), _passes_as_uri),
    "uri-reference": Detail(_searching(_ODD_REFERENCE), _matching(_LOOSE)),
    "uri-template": Detail(_searching(r"['\x7f]"), lambda text: "'" not in text),
    "url": Detail(_always, _matching(_URL)),
}


def strays(schema: Any, values: Any) -> bool:
    """Whether some text given is in the class of a format that the schema uses."""
    used = [DETAILS[name] for name in _formats(schema) if name in DETAILS]
    texts = keys_of(values).union(inner for inner in walk(values) if isinstance(inner, str))
    return any(detail.concerns(text) for detail in used for text in texts)


def _formats(schema: Any) -> set[str]:
    named = (members.get("format") for members in objects_in(schema))
    return {name for name in named if isinstance(name, str)}


def conforms(name: str, text: str, by_reference: bool) -> bool:
    """Whether a text is of a format, as the standard has it or the reference.

    Raises:
        Unstated: the format is not written down for this text.
    """
    detail = DETAILS.get(name)
    concerned = detail is not None and detail.concerns(text)
    if detail is not None and concerned and by_reference:
        return detail.reference(text)
    if name in STANDARD:
        return STANDARD[name](text)
    return name != "regex" or (not text if concerned else _is_strict(text))
