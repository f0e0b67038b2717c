"""Secrets told by the name they are assigned to."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fabricd.core.context.guard.finding import Found
from fabricd.core.context.guard.names import claim
from fabricd.core.context.guard.plausibility import drawn, is_uuid, made_up

_RANK = 4
_STEMS = tuple(b"key secret token passw passphr auth cred _pass pwd kennw".split())
_CODE = frozenset(
    "python javascript typescript tsx jsx go rust java c cpp csharp c_sharp c-sharp ruby php "
    "kotlin swift scala".split()
)
# From the end of the stem: the rest of the name, what separates it from the value, the value.
_REST = r"[A-Za-z0-9_-]{0,40}+"
_BETWEEN = r"""
    (?:
        \\?["'`]?\)?\]?[ \t]{0,20}
        (?:
            :[ \t]?&?(?:'\w{1,20}[ ])?[A-Za-z_][\w.\[\]|<> ]{0,30}?[ \t]?(?==[^=>])  # a type
          | [ \t](?:\[\])?(?:string|byte)[ \t]?(?==[^=])
          | \[\w{0,30}\][ \t]?(?==[^=])
          | \*\*[ \t]?(?=[:\uff1a])
        )?
        (?P<sep>:=|={1,3}>?|[:\uff1a\uff1d]|->|\|\||\||\?\?|\bor\b)
        (?:(?<=:)\*\*)?
      | \\?["'`][ \t]{0,4}(?P<pair>,)                                  # a pair, arguments
      | (?P<tag>>)(?:<!\[CDATA\[)?                                     # an element
      | (?P<call>\()(?=[ \t]{0,4}["'`])                               # a setter
      | ["']?,?\s{1,40}["']?[Vv]alue["']?[ \t]?[:=]                   # name and value by turns
      | (?P<blank>(?=[ \t]))                                          # an option, a definition
    )
    (?:
        [ \t]{0,4}\(?\n[ \t]{0,40}(?=["'`])
      | (?<=:)[ \t]{0,4}(?:[|>][+-]?[0-9]?[+-]?)?[ \t]{0,4}\r?\n[ \t]{1,40}    # below it
        (?=[^\s"'`\\‹›]{12,512}[ \t]{0,8}(?:[\r\n]|\Z))
      | [ \t]{0,20}
    )
    (?:\[\]byte\(|[({\[])?
"""
_VALUE = r"""
    (?:
        (?P<prefix>[rRbBuUfF@$]{0,2})(?P<quote>\\?["'`]{1,3})
        (?:(?:Bearer|Token|ApiKey|SSWS|bearer|token)[ ])?
        (?P<quoted>[^\s"'`\\‹›]{12,512})(?P=quote)
      | (?:(?:Bearer|Token|ApiKey|SSWS|bearer|token)[ ])?
        (?P<bare>[^\s"'`\\‹›]{12,512})
    )
"""
_ASSIGNED = re.compile(_REST + _BETWEEN + _VALUE, re.VERBOSE)
_NAME = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
_LONGEST_NAME = 60
_DEFINING = re.compile(
    r"(?:--|\b(?:ENV|ARG|define|export|set|setx|SET|password|passwd)[ \t]{1,4})[A-Za-z0-9_-]*\Z"
    r"|\b(?:machine|login|account)\s{1,4}\S{1,40}\s{1,8}\Z"
)
_SETTER = re.compile("[Ss]et|[Ww]ith")


def assignments(text: str, low: bytes, language: str | None) -> Iterator[Found]:
    """Values whose name claims a secret and that look drawn."""
    done = 0
    for at, size in _hits(low):
        if at < done or text.startswith("‹", at - 1):
            continue
        match = _ASSIGNED.match(text, at + size)
        if match is None:
            continue
        found = _judged(text, at, match, language)
        if found:
            yield found
            done = found.end
        else:
            # What followed may be a name itself; a match is bounded, so that time stays linear.
            done = max(done, _name_end(text, match.start()))


def _hits(low: bytes) -> list[tuple[int, int]]:
    hits: list[tuple[int, int]] = []
    for stem in _STEMS:
        size = len(stem)
        at = low.find(stem)
        while at >= 0:
            hits.append((at, size))
            at = low.find(stem, at + size)
    hits.sort()
    return hits


def _judged(text: str, at: int, match: re.Match[str], language: str | None) -> Found | None:
    quoted = match.group("quoted") is not None
    start, end = match.span("quoted" if quoted else "bare")
    before = text[max(0, at - _LONGEST_NAME) : at]
    head = at
    while head > max(0, at - _LONGEST_NAME) and text[head - 1] in _NAME:
        head -= 1
    name = text[head : _name_end(text, match.start())]
    claimed = claim(name)
    if claimed == "none":
        return None
    if match.group("blank") is not None and not _DEFINING.search(before):
        return None
    if not _paired(text, head, match, start):
        return None
    if not quoted:
        if claimed == "weak":
            return None
        end = _bare_end(text, start, end, match)
        if end - start < 12 or (language in _CODE and not _inside_literal(text, at, end, name)):
            return None
    value = text[start:end]
    strict = claimed == "weak" or (not quoted and language in _CODE and not _in_query(text, match))
    if match.group("call") and (claimed != "strong" or not _SETTER.match(name)):
        strict = True
    if claimed == "fair" and is_uuid(value):
        return None
    if not drawn(value, strict=strict) or made_up(value):
        return None
    return Found(start, end, "credential", _RANK)


def _paired(text: str, at: int, match: re.Match[str], start: int) -> bool:
    """Whether a comma or bar between two texts makes a name and a value of them."""
    if match.group("sep") == "|":
        return text[max(0, text.rfind("\n", 0, at) + 1, at - 200) : at].lstrip().startswith("|")
    if match.group("pair") and "\n" in text[match.start("pair") : start]:
        # Texts one below the other are a list, unless they are what a call is given.
        return text[max(0, at - 4) : at].rstrip("\"'`\\ ").endswith("(")
    return True


def _in_query(text: str, match: re.Match[str]) -> bool:
    """Whether a name stands in the query of an address, as far as its line tells."""
    if match.group("sep") != "=":
        return False
    before = text[max(0, match.start() - 200) : match.start()].rpartition("\n")[2]
    return "?" in before


_WORD_END = re.compile(r"[A-Za-z0-9_-]*")


def _name_end(text: str, at: int) -> int:
    match = _WORD_END.match(text, at)
    return match.end() if match else at


def _bare_end(text: str, start: int, end: int, match: re.Match[str]) -> int:
    """Where an unquoted value ends: before markup, the next argument, or closing signs."""
    value = text[start:end]
    if match.group("tag"):
        value = value.partition("<")[0]
    if _in_query(text, match):
        value = value.partition("&")[0]
    while value and value[-1] in ",;)]}>":
        value = value[:-1]
    return start + len(value)


def _inside_literal(text: str, at: int, end: int, name: str) -> bool:
    """Whether bare text in a program can be a value: `NAME=value` inside a literal or comment."""
    line = text[max(0, text.rfind("\n", 0, at) + 1, at - 200) : at]
    tail = text[end : end + 1]
    return (name.isupper() or any(sign in line for sign in "\"'`#/*")) and tail in (
        "",
        "\n",
        "\r",
        '"',
        "'",
        "`",
        "\\",
        " ",
        "&",
    )
