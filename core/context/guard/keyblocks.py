"""Private keys in blocks: PEM, OpenSSH, PGP, SSH2, PuTTY. The lines round them stay."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from fabricd.core.context.guard.finding import PLACEHOLDER, Found
from fabricd.core.context.guard.plausibility import classes, is_written

_RANK = 0
_OPENING = re.compile(r"-{4,5} ?BEGIN ([A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?) ?-{4,5}")
_MARK = re.compile(r"-{4,5} ?(BEGIN|END) ([A-Z0-9 ]{0,60})")
_PUTTY = re.compile(r"Private-Lines: ([0-9]{1,3})\r?\n")
_PROOF = re.compile("^Private-MAC", re.MULTILINE)
_LARGEST = 65_536
# What stands round the characters of a key where it is quoted, commented or joined in source.
_BEFORE = re.compile(r"""[ \t]*(?:(?://|--|\\[nrt]|[#*;>|"'`+(,&])[ \t]*){0,8}""")
_LONG = re.compile(r"[A-Za-z0-9+/]{16,}")
_FIELD = re.compile(r"[A-Za-z][A-Za-z-]{2,20}: ")
_PIECE = re.compile(r"[A-Za-z0-9+/=][A-Za-z0-9+/=\\]*")
_LINE_END = re.compile(r"(?:\\+[nr])+$")


def key_blocks(text: str) -> Iterator[Found]:
    """Private keys, each as one find with the parts of its lines."""
    if "PRIVATE KEY" in text:
        yield from _framed(text)
    if "Private-Lines: " in text:
        proofs = [one.start() for one in _PROOF.finditer(text)]
        done = 0
        for match in _PUTTY.finditer(text):
            end = _putty_end(text, match, proofs)
            if match.end() >= done:
                yield from _block(text, match.end(), end, "putty-key", True)
                done = end


def _framed(text: str) -> Iterator[Found]:
    is_account = '"service_account"' in text or r"\"service_account\"" in text
    marks = [(one.start(), one.group(2).strip()) for one in _MARK.finditer(text)]
    same: dict[str, list[int]] = {}
    for place, label in marks:
        same.setdefault(label, []).append(place)
    places = [place for place, _ in marks]
    done = 0
    for match in _OPENING.finditer(text):
        start = max(match.end(), done)
        # Its own end, or the next beginning of its kind: no other line may end it.
        end = _next(same.get(match.group(1).strip(), ()), match.end())
        if not match.end() <= end <= match.end() + _LARGEST:
            end = _next(places, match.end())
        closed = match.end() <= end <= match.end() + _LARGEST
        if not closed:
            end = min(len(text), match.end() + _LARGEST)
        if start < end:
            yield from _block(text, start, end, _kind(match.group(1), is_account), closed)
            done = end if closed else done


def _next(places: Sequence[int], at: int) -> int:
    number = bisect_left(places, at)
    return places[number] if number < len(places) else -1


def _putty_end(text: str, match: re.Match[str], proofs: Sequence[int]) -> int:
    """Where the lines end: at the proof behind them, or as many lines on as they say."""
    limit = min(len(text), match.end() + _LARGEST)
    proof = _next(proofs, match.end())
    if 0 <= proof <= limit:
        return proof
    end = match.end()
    for _ in range(int(match.group(1))):
        line = text.find("\n", end, limit)
        if line < 0:
            return limit
        end = line + 1
    return end


def _kind(label: str, is_account: bool) -> str:
    if "PGP" in label:
        return "pgp-key"
    if "OPENSSH" in label or "SSH2" in label:
        return "ssh-key"
    return "service-account" if is_account else "private-key"


def _block(text: str, start: int, limit: int, kind: str, closed: bool) -> Iterator[Found]:
    """A block up to its end; where that is not known, as far as its lines look like one."""
    parts: list[tuple[int, int]] = []
    at = start
    begun = False
    # Whatever ends a line for somebody ends one here: no placeholder may swallow it.
    for line in text[start:limit].splitlines(keepends=True):
        held = _parts(line)
        if begun and not closed and not held and "‹" not in line:
            break
        parts += [(at + first, at + last) for first, last in held]
        begun = begun or bool(held) or "‹" in line
        at += len(line)
    if any(_is_key(text[first:last]) for first, last in parts):
        yield Found(parts[0][0], parts[-1][1], kind, _RANK, tuple(parts))


def _is_key(part: str) -> bool:
    return any(classes(run) > 2 and not is_written(run) for run in _LONG.findall(part))


def _parts(line: str) -> list[tuple[int, int]]:
    """What a line holds of a key beside placeholders. Names of fields hold none."""
    head = _BEFORE.match(line)
    at = head.end() if head else 0
    if _FIELD.match(line, at):
        return []
    parts: list[tuple[int, int]] = []
    for placeholder in PLACEHOLDER.finditer(line) if "‹" in line else ():
        parts += _part(line, at, placeholder.start())
        at = placeholder.end()
    return parts + _part(line, at, len(line))


def _part(line: str, start: int, end: int) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for match in _PIECE.finditer(line, start, end):
        piece = _LINE_END.sub("", match.group())
        if piece:
            found = [(found[0][0] if found else match.start(), match.start() + len(piece))]
    return found
