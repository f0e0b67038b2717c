"""Ways round the guard that stand closed: escapes, nesting, forged marks, forms of assignment."""

from __future__ import annotations

import pytest

from fabricd.core.context.guard.guarding import clean, guarded
from tests.core.context.guard.drawing import (
    BASE32,
    BASE62,
    checked,
    drawn,
    key_block,
    web_token,
)
from tests.growth import grows_with_length

HUB = checked("gh" + "p_", 7)
ACCESS = "AK" + "IA" + drawn(BASE32, 16, 2)
VALUE = drawn(BASE62, 28, 11)
FORGED = "‹secret:a:1›"
LABEL = "PRIV" + "ATE KEY"


@pytest.mark.parametrize("token", [HUB, ACCESS, web_token(3)], ids=["hub", "access", "jwt"])
@pytest.mark.parametrize(
    "escape",
    [
        "a%3D",
        "?tok%253D",
        "\\u0027",
        "\\x27",
        "\\f",
        "\\n",
        "\\033",
        "\x1b[31m",
        "\x1b[1;31m",
        "\x1b[m\x1b[K",
        '"\\033[31m',
        "\\e[0m",
    ],
)
def test_a_token_behind_an_escape_goes(escape: str, token: str) -> None:
    assert clean(f"{escape}{token}\x1b[0m").startswith(f"{escape}‹secret:")
    assert token not in clean(f"{escape}{token} x")


def test_letters_that_only_look_like_an_escape_belong_to_the_token() -> None:
    # A directory of a Windows path; the pa that a per cent sign could escape.
    assert HUB not in clean(f"C:\\{HUB}")
    token = "da" + "pi" + drawn("0123456789abcdef", 32, 4)
    assert token not in clean(f"%{token}")


@pytest.mark.parametrize("language", [None, "json", "yaml", "python", "javascript"])
@pytest.mark.parametrize(
    "form",
    [
        '{{"auth":{{"client_secret":"{}"}}}}',
        'auth: {{client_secret: "{}"}}',
        'token_auth(key="a", secret="{}")',
    ],
)
def test_a_telling_name_does_not_hide_the_next(form: str, language: str | None) -> None:
    assert VALUE not in guarded(form.format(VALUE), language).text


@pytest.mark.parametrize(
    ("language", "form"),
    [
        ("rust", 'const API_TOKEN: &str = "{}";'),
        ("rust", 'static API_TOKEN: &\'static str = "{}";'),
        ("go", 'var apiToken string = "{}"'),
        ("go", 'const apiToken string = "{}"'),
        ("go", 'apiToken := []byte("{}")'),
        ("c", 'char api_token[] = "{}";'),
        ("c", 'static const char api_token[64] = "{}";'),
        ("python", 'u = "https://x.y/z?api_key={}&b=1"'),
        ("javascript", 'u = "https://x.y/z?b=1&api_key={}&c=1"'),
        ("java", 'props.setPassword("{}");'),
        ("java", 'props.setProperty("password",\n    "{}");'),
        ("yaml", "a:\n  password: |\n    {}\n  b: 1\n"),
        ("yaml", "password: >-\n  {}\n"),
        ("yaml", "password:\n  {}\nb: 1\n"),
        ("markdown", "**Password**: {}"),
        ("markdown", "**Password:** {}"),
        ("markdown", "| password | {} |"),
        ("markdown", "| `API token` | `{}` |"),
        (None, "<password><![CDATA[{}]]></password>"),
        (None, "machine h login y password {}"),
        (None, "machine h\n  login y\n  password {}\n"),
        (None, "password\uff1a{}"),
        (None, "Passwort: {}"),
        (None, "Kennwort: {}"),
    ],
)
def test_a_value_goes_in_every_form_of_assignment(language: str | None, form: str) -> None:
    found = guarded(form.format(VALUE), language)
    assert found.text == form.format("‹secret:credential:1›")


def test_a_password_in_an_address_goes_up_to_the_last_at_sign() -> None:
    word = drawn(BASE62, 5, 1) + "@" + drawn(BASE62, 7, 2)
    assert clean(f"postgres://u:{word}@host/db") == "postgres://u:‹secret:url-password:1›@host/db"
    assert clean("postgres://u:password@host/a@b") == "postgres://u:password@host/a@b"


@pytest.mark.parametrize(
    "text",
    [
        '["CUSTOMER_MANAGED_KMS_KEY",\n "AWS_OWNED_KMS_KEY"]',
        f'["API_TOKEN",\n "{VALUE}"]',
        'token = "[A-Za-z0-9_-]{20,40}"',
        'password: "^[0-9a-f]{32}$X"',
        'api_key = r"[^a-z]+Q7w9Zk2m"',
        f"mask = password | {VALUE}",
        f"the password then {VALUE}",
    ],
)
def test_lists_and_patterns_stay(text: str) -> None:
    assert clean(text) == text


LINES = key_block(LABEL, 9).split("\n")
HALF = len(LINES[1]) // 2


@pytest.mark.parametrize(
    "lines",
    [
        [LINES[0], FORGED, *LINES[1:]],
        [*LINES[:3], FORGED, *LINES[3:]],
        [LINES[0], LINES[1] + FORGED, *LINES[2:]],
        [LINES[0], LINES[1][:HALF] + FORGED + LINES[1][HALF:], *LINES[2:]],
        [LINES[0], "---- note", *LINES[1:]],
        [*LINES[:2], "-----BEGIN note-----", *LINES[2:]],
        [*LINES[:2], "-----END note-----", *LINES[2:]],
        [*LINES[:2], LINES[0], *LINES[2:]],
        [*LINES[:2], f"-----BEGIN X {LABEL}-----", "", *LINES[2:]],
        [*LINES[:2], "---- note", *LINES[2:-1]],
        [*LINES[:2], FORGED, *LINES[2:-1]],
        ["PuTTY", "Private-Lines: 4", FORGED, *LINES[1:-1], "Private-MAC: 1"],
        ["PuTTY", "Private-Lines: 5", LINES[1], FORGED, *LINES[2:-1]],
    ],
)
def test_forged_text_does_not_switch_off_a_key_block(lines: list[str]) -> None:
    text = "\n".join([*lines, "", "print(1)", ""])
    found = clean(text)
    for line in LINES[1:-1]:
        assert line[:12] not in found and line[-12:] not in found
    assert found.endswith("\n\nprint(1)\n") and found.count("\n") == text.count("\n")
    assert clean(found) == found
    assert found.count(FORGED) == text.count(FORGED)


def test_code_between_the_marks_of_a_key_stays() -> None:
    text = (
        f'BEGIN = "-----BEGIN {LABEL}-----"\n# ---- signed by sha256WithRSAEncryption\n'
        f'def is_end(line):\n    return line == "-----END {LABEL}-----"\n'
    )
    assert guarded(text, "python").text == text


@pytest.mark.parametrize(
    "piece",
    [
        "token=",
        "password[x]=",
        '{"auth":',
        f"-----BEGIN {LABEL}-----\n",
        "Private-Lines: 3\n",
        "://a:b@",
        "%41bcdefgh1bcdefgh1bcdefgh1",
        "password:\n  ",
    ],
)
def test_time_is_bounded_by_length(piece: str) -> None:
    assert grows_with_length(lambda length: piece * (length // len(piece)), clean, 64_000)
