"""Secrets drawn for tests: nothing here has a maker's shape until it is drawn."""

from __future__ import annotations

import random
import string
from base64 import b64encode, urlsafe_b64encode
from zlib import crc32

LETTERS = string.ascii_letters
BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase
URL = BASE62 + "_-"
HEX = "0123456789abcdef"
BASE32 = string.ascii_uppercase + "234567"
UPPER = string.ascii_uppercase + string.digits


def drawn(alphabet: str, length: int, seed: int) -> str:
    """Characters at random."""
    return "".join(random.Random(seed).choices(alphabet, k=length))


def checked(prefix: str, seed: int) -> str:
    """Thirty characters and their checksum."""
    body = drawn(BASE62, 30, seed)
    number, digits = crc32(body.encode()), ""
    for _ in range(6):
        number, digit = divmod(number, 62)
        digits = BASE62[digit] + digits
    return prefix + body + digits


def key_block(label: str, seed: int, lines: int = 4) -> str:
    """A block of base 64 between its marks."""
    body = [drawn(BASE62 + "+/", 64, seed + number) for number in range(lines)]
    body[-1] = body[-1][:20] + "=="
    return "\n".join((f"-----BEGIN {label}-----", *body, f"-----END {label}-----"))


def web_token(seed: int) -> str:
    """A JSON web token: header, payload, signature."""
    header = urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').decode().rstrip("=")
    payload = urlsafe_b64encode(b'{"sub":"1","iat":1700000000}').decode().rstrip("=")
    return f"{header}.{payload}.{drawn(URL, 43, seed)}"


def pair(seed: int) -> str:
    """What a basic header carries."""
    return b64encode(f"admin:{drawn(BASE62, 14, seed)}".encode()).decode()
