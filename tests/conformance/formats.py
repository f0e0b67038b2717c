"""What the standards say of a text that has a `format`, written down beside any validator."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from contextlib import suppress
from ipaddress import AddressValueError, IPv4Address, IPv6Address

import idna

# --- dates and times: RFC 3339

_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_TIME = re.compile(
    r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))"
)
_SPAN = r"(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S)"
_DAYS = r"(?:[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?|[0-9]+M(?:[0-9]+D)?|[0-9]+D)"
_DURATION = rf"P(?:{_DAYS}(?:T{_SPAN})?|T{_SPAN}|[0-9]+W)"


def _is_date(text: str) -> bool:
    found = _DATE.fullmatch(text)
    if found is None:
        return False
    year, month, day = map(int, found.groups())
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    lengths = (31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    return 1 <= month <= 12 and 1 <= day <= lengths[month - 1]


def _is_time(text: str) -> bool:
    found = _TIME.fullmatch(text)
    if found is None:
        return False
    hour, minute, second = (int(found[place]) for place in (1, 2, 3))
    ahead, behind = int(found[5] or 0), int(found[6] or 0)
    if hour > 23 or minute > 59 or second > 60 or ahead > 23 or behind > 59:
        return False
    offset = (ahead * 60 + behind) * (-1 if found[4] == "-" else 1)
    # A leap second is the last second of a day in UTC.
    return second < 60 or (hour * 60 + minute - offset) % 1440 == 1439


def _is_date_time(text: str) -> bool:
    return _is_date(text[:10]) and text[10:11] in ("T", "t") and _is_time(text[11:])


# --- hosts and addresses: RFC 1123, 4291, 5321, 6531

_LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_HOST = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~\-"
_QUOTED = r'"(?:[ !#-\[\]-~]|\\[ -~])*"'


def _mailbox(more: str) -> re.Pattern[str]:
    dotted = rf"{_ATOM}{more}]+(?:\.{_ATOM}{more}]+)*"
    return re.compile(rf"({dotted}|{_QUOTED})@(?:\[(.*)\]|([^@\[\]]+))", re.S)


_MAILBOX, _WIDE_MAILBOX = _mailbox(""), _mailbox("\u0080-\U0010ffff")


def is_ipv4(text: str) -> bool:
    """Whether a text is four decimal octets without leading zeros."""
    with suppress(AddressValueError):
        return text.isascii() and bool(IPv4Address(text))
    return False


def is_ipv6(text: str) -> bool:
    """Whether a text is an address without a zone."""
    with suppress(AddressValueError):
        return text.isascii() and "%" not in text and bool(IPv6Address(text))
    return False


def _is_host(text: str) -> bool:
    labels = [label.lower() for label in text.split(".")]
    encoded = [label for label in labels if label.startswith("xn--")]
    reserved = any(label[2:4] == "--" for label in labels if label not in encoded)
    plain = len(text) <= 253 and not reserved and _HOST.fullmatch(text) is not None
    return plain and all(map(_is_label, encoded))


def _is_wide_host(text: str) -> bool:
    composed = unicodedata.normalize("NFC", text).lower()
    return all(map(_is_label, re.split("[.\u3002\uff0e\uff61]", composed)))


def _is_label(label: str) -> bool:
    """Whether a label is one by the tables of IDNA, which we leave to its library."""
    with suppress(idna.IDNAError):
        return bool(idna.ulabel(label) if label.startswith("xn--") else idna.alabel(label))
    return False


def _is_mail(text: str) -> bool:
    found = _MAILBOX.fullmatch(text)
    return found is not None and _is_mailbox(found, _is_host)


def _is_wide_mail(text: str) -> bool:
    found = _WIDE_MAILBOX.fullmatch(text)
    return found is not None and _is_mailbox(found, _is_wide_host)


def _is_mailbox(found: re.Match[str], is_host: Callable[[str], bool]) -> bool:
    local, literal, host = found.groups()
    if literal is None:
        return len(local) <= 64 and is_host(host)
    is_address = is_ipv6 if literal.startswith("IPv6:") else is_ipv4
    return len(local) <= 64 and is_address(literal.removeprefix("IPv6:"))


# --- URIs and IRIs: RFC 3986, 3987

_ESCAPED = "%[0-9A-Fa-f]{2}"
_BEYOND = (
    "\u00a0-\ud7ff\uf900-\ufdcf\ufdf0-\uffef\U00010000-\U0001fffd\U00020000-\U0002fffd"
    "\U00030000-\U0003fffd\U00040000-\U0004fffd\U000e1000-\U000efffd"
)
_PRIVATE = "\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd"


class _Grammar:
    """References of RFC 3986, or with more characters of RFC 3987."""

    def __init__(self, more: str, private: str) -> None:
        plain = rf"A-Za-z0-9._~!$&'()*+,;={more}\-"
        segment = f"(?:[{plain}:@]|{_ESCAPED})"
        first = f"(?:[{plain}@]|{_ESCAPED})"
        name = rf"(?:\[(.*?)\]|(?:[{plain}]|{_ESCAPED})*)"
        authority = rf"//(?:(?:[{plain}:]|{_ESCAPED})*@)?{name}(?::[0-9]*)?(?:/{segment}*)*"
        path = rf"/(?:{segment}+(?:/{segment}*)*)?"
        tail = rf"(?:\?(?:{segment}|[/?{private}])*)?(?:#(?:{segment}|[/?])*)?"
        scheme, rest = "[A-Za-z][A-Za-z0-9+.-]*:", rf"{segment}+(?:/{segment}*)*"
        relative = rf"{first}+(?:/{segment}*)*"
        self._absolute = re.compile(rf"{scheme}(?:{authority}|{path}|{rest}|){tail}", re.S)
        self._relative = re.compile(rf"(?:{authority}|{path}|{relative}|){tail}", re.S)

    def absolute(self, text: str) -> bool:
        """Whether a text is an identifier with a scheme."""
        return self._fits(self._absolute, text)

    def reference(self, text: str) -> bool:
        """Whether a text is an identifier or refers to one."""
        return self.absolute(text) or self._fits(self._relative, text)

    def _fits(self, form: re.Pattern[str], text: str) -> bool:
        found = form.fullmatch(text)
        literal = found[1] if found else None
        return found is not None and (literal is None or _is_literal(literal))


_FUTURE = re.compile(r"[vV][0-9A-Fa-f]+\.[A-Za-z0-9._~!$&'()*+,;=:-]+")


def _is_literal(text: str) -> bool:
    return is_ipv6(text) or _FUTURE.fullmatch(text) is not None


_URI, _IRI = _Grammar("", ""), _Grammar(_BEYOND, _PRIVATE)


# --- the others

_POINTER = "(?:/(?:[^~/]|~[01])*)*"
_WORD = rf"(?:[A-Za-z0-9_]|{_ESCAPED})+"
_VARIABLE = rf"{_WORD}(?:\.{_WORD})*(?::[1-9][0-9]{{0,3}}|\*)?"
# With erratum 6937, which gives literals the apostrophe back.
_LITERAL = rf"(?:[^\x00-\x20\"<>%\\^`{{|}}\x7f]|{_ESCAPED})"
_TEMPLATE = rf"(?:{_LITERAL}|{{[+#./;?&=,!@|]?{_VARIABLE}(?:,{_VARIABLE})*}})*"


def _matching(form: str) -> Callable[[str], bool]:
    compiled = re.compile(form, re.S)
    return lambda text: compiled.fullmatch(text) is not None


STANDARD: Mapping[str, Callable[[str], bool]] = {
    "date": _is_date,
    "date-time": _is_date_time,
    "duration": _matching(_DURATION),
    "email": _is_mail,
    "hostname": _is_host,
    "idn-email": _is_wide_mail,
    "idn-hostname": _is_wide_host,
    "ipv4": is_ipv4,
    "ipv6": is_ipv6,
    "iri": _IRI.absolute,
    "iri-reference": _IRI.reference,
    "json-pointer": _matching(_POINTER),
    "relative-json-pointer": _matching(rf"(?:0|[1-9][0-9]*)(?:#|{_POINTER})"),
    "time": _is_time,
    "uri": _URI.absolute,
    "uri-reference": _URI.reference,
    "uri-template": _matching(_TEMPLATE),
    "uuid": _matching("[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"),
}
