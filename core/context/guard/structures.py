"""Secrets told by what stands round them: tokens that decode, addresses, header fields."""

from __future__ import annotations

import binascii
import re
from base64 import urlsafe_b64decode
from collections.abc import Iterator

from fabricd.core.context.guard.finding import Found
from fabricd.core.context.guard.plausibility import classes, entropy, made_up
from fabricd.core.context.guard.shapes import Runs
from fabricd.core.documents import strict_json

_RANK = 2


def structures(text: str, low: bytes, runs: Runs) -> Iterator[Found]:
    """Every secret of this module. `low` is the text in Latin-1 and lower case."""
    yield from _web_tokens(text, runs)
    yield from _discord(text, runs)
    if b"://" in low and b"@" in low:
        yield from _user_infos(text)
    words = _SCHEMES if b"authorization" in low else _SCHEMES[:2]
    for word in words:
        yield from _headers(text, low, word)
    for gate, placed in _PLACED.items():
        if gate in text:
            for literal, pattern, kind in placed:
                yield from _placed(text, literal, pattern, kind)


_SCHEMES = (b"basic ", b"bearer ", b"token ", b"apikey ", b"ssws ")


_HEAD = re.compile(r"(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{10,2000}")
_JWT = re.compile(
    r"eyJ[A-Za-z0-9_-]{10,2000}\.[A-Za-z0-9_-]{4,16000}(?:\.[A-Za-z0-9_-]{0,16000}){1,3}"
)


def _web_tokens(text: str, runs: Runs) -> Iterator[Found]:
    if "eyJ" not in runs.text:
        return
    for match in _HEAD.finditer(runs.text):
        place = runs.place(match.start())
        whole = _JWT.match(text, place)
        if whole and _is_header(match.group()):
            yield Found(place, whole.end(), "jwt", _RANK)


def _is_header(part: str) -> bool:
    try:
        value = strict_json(urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except (ValueError, binascii.Error):
        return False
    return isinstance(value, dict) and ("alg" in value or "typ" in value)


# A bot's token begins with its number in base 64, then six characters of time, then the proof.
_BOT = re.compile(
    r"(?<![A-Za-z0-9])[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}(?![A-Za-z0-9_-])"
)


def _discord(text: str, runs: Runs) -> Iterator[Found]:
    if "." not in runs.text:
        return
    for match in _BOT.finditer(runs.text):
        place = runs.place(match.start())
        head = match.group().partition(".")[0]
        try:
            number = urlsafe_b64decode(head + "=" * (-len(head) % 4))
        except (ValueError, binascii.Error):
            continue
        if number.isdigit():
            yield Found(place, place + len(match.group()), "discord", _RANK)


_USER_INFO = re.compile(
    r"""([^\s/@:"'`<>(){}\[\]|\\]{0,64}):"""
    r"""([^\s@/"'`<>|\\]{1,256}(?:@[^\s@/"'`<>|\\?#&=,;:()]{1,64}){0,3})@(?=[\w\[.%${-])"""
)
_PORTS = re.compile(r"[0-9]{1,5},")  # one address of several hosts
_COMMON = frozenset(
    "pass password passwd pwd secret user username guest admin root test postgres mysql token key "
    "hunter2 pass123 password1 password123 secretpassword p4ssw0rd passw0rd 123456 port host "
    "mypass mypassword userpass testpass test123".split()
)


def _user_infos(text: str) -> Iterator[Found]:
    at = text.find("://")
    while at >= 0:
        match = _USER_INFO.match(text, at + 3)
        if match and _is_password(match.group(2), match.group(1)):
            yield Found(*match.span(2), "url-password", _RANK)
        at = text.find("://", at + 3)


def _is_password(value: str, user: str) -> bool:
    if len(value) < 3 or made_up(value) or not {value, value.partition("@")[0]}.isdisjoint({user}):
        return False
    if value.partition("@")[0].lower() in _COMMON:
        return False
    if _PORTS.match(value):
        return False
    if value.isdigit():
        return len(value) > 5
    return classes(value) > 1 and "${" not in value and not value.startswith(("$", "{", "%"))


_CREDENTIAL = re.compile(r"""([ \t]{0,3})([A-Za-z0-9_.~+/=-]{8,4000})""")
_COLON = re.compile(r"authorization", re.IGNORECASE)


def _headers(text: str, low: bytes, word: bytes) -> Iterator[Found]:
    at = low.find(word)
    while at >= 0:
        end = at + len(word)
        match = _CREDENTIAL.match(text, end)
        if match and not (at and low[at - 1 : at].isalnum()):
            named = b"authorization" in low[max(0, at - 40) : at]
            value = match.group(2)
            if word == b"basic ":
                good = _is_pair(value)
            elif word == b"bearer " or named:
                good = _is_credential(value)
            else:
                good = False
            if good:
                yield Found(*match.span(2), word.decode().strip() + "-header", _RANK)
            end = match.end()
        at = low.find(word, end)


def _is_credential(value: str) -> bool:
    return (
        len(value) >= 16
        and any(map(str.isdigit, value))
        and any(map(str.isalpha, value))
        and entropy(value) >= 3.0
        and not made_up(value)
        and "://" not in value
    )


def _is_pair(value: str) -> bool:
    """Whether it is base 64 of `user:password` that somebody drew."""
    try:
        pair = binascii.a2b_base64(value + "=" * (-len(value) % 4)).decode()
    except ValueError:
        return False
    user, colon, password = pair.partition(":")
    if not (colon and len(password) > 3 and pair.isprintable()):
        return False
    return not made_up(password) and password.lower() not in _COMMON and password != user


# By a literal of the whole text: shapes that hold characters which end a run.
_PLACED = {
    "hook": (
        (
            "hooks.slack.com/",
            re.compile(
                r"(?:services|workflows|triggers)/"
                r"([A-Z0-9]{8,14}/[A-Z0-9]{8,14}/[A-Za-z0-9/]{16,64})"
            ),
            "slack-webhook",
        ),
        ("/api/webhooks/", re.compile(r"([0-9]{15,22}/[A-Za-z0-9_-]{50,90})"), "discord-webhook"),
        (
            "hooks.zapier.com/",
            re.compile(r"hooks/catch/([0-9]{4,10}/[A-Za-z0-9]{5,12})"),
            "zapier-webhook",
        ),
        (
            ".webhook.office.com/webhookb2/",
            re.compile(
                r"([A-Za-z0-9@-]{60,90}/IncomingWebhook/[A-Za-z0-9]{20,40}/[A-Za-z0-9/-]{30,100})"
            ),
            "teams-webhook",
        ),
    ),
    "AccountKey=": (
        ("AccountKey=", re.compile(r"([A-Za-z0-9+/]{40,100}={0,2})"), "azure-storage"),
    ),
    "SharedAccess": (
        ("SharedAccessKey=", re.compile(r"([A-Za-z0-9+/]{40,100}={0,2})"), "azure-shared-access"),
        ("SharedAccessSignature=", re.compile(r"""([^\s"';]{40,400})"""), "azure-shared-access"),
    ),
    "1//0": (("1//0", re.compile(r"([A-Za-z0-9_-]{40,120})"), "google-oauth"),),
    "access_token$": (
        ("access_token$production$", re.compile(r"([a-z0-9]{16}\$[0-9a-f]{32})"), "braintree"),
        ("access_token$sandbox$", re.compile(r"([a-z0-9]{16}\$[0-9a-f]{32})"), "braintree"),
    ),
    "sig=": (
        ("&sig=", re.compile(r"([A-Za-z0-9%+/]{40,100}(?:%3[Dd]|=)?)"), "azure-sas"),
        ("?sig=", re.compile(r"([A-Za-z0-9%+/]{40,100}(?:%3[Dd]|=)?)"), "azure-sas"),
    ),
    "curl ": (
        (
            "curl ",
            re.compile(
                r"""[^\n]{0,300}?[ \t](?:-u|--user)[ =]?["']?[^\s:"'$]{1,64}:([^\s"'$<]{6,200})"""
            ),
            "curl-password",
        ),
    ),
}


def _placed(text: str, literal: str, pattern: re.Pattern[str], kind: str) -> Iterator[Found]:
    at = text.find(literal)
    while at >= 0:
        match = pattern.match(text, at + len(literal))
        end = at + len(literal) if match or literal != "curl " else at + 300
        if match:
            value = match.group(1)
            if not made_up(value) and value.lower() not in _COMMON and entropy(value) >= 2.5:
                yield Found(*match.span(1), kind, _RANK)
            end = max(end, match.end())
        at = text.find(literal, end)
