"""Each kind of secret goes, and what comes near it stays."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricd.core.context.guard.guarding import GUARD, clean, guarded
from tests.core.context.guard.drawing import (
    BASE32,
    BASE62,
    HEX,
    UPPER,
    URL,
    checked,
    drawn,
    key_block,
    pair,
    web_token,
)

# Kind, prefix (in two pieces), alphabet, length, suffix.
SHAPES = [
    ("adafruit", "ai" + "o_", BASE62, 28, ""),
    ("aws-access-key", "AK" + "IA", BASE32, 16, ""),
    ("anthropic", "sk-" + "ant-api03-", URL, 95, ""),
    ("apify", "apify_" + "api_", BASE62, 36, ""),
    ("artifactory", "AK" + "Cp", BASE62, 69, ""),
    ("contentful", "CFP" + "AT-", URL, 43, ""),
    ("databricks", "da" + "pi", HEX, 32, ""),
    ("digitalocean", "dop" + "_v1_", HEX, 64, ""),
    ("docker-hub", "dckr" + "_pat_", URL, 27, ""),
    ("doppler", "dp." + "pt.", BASE62, 43, ""),
    ("easypost", "EZ" + "AK", BASE62, 54, ""),
    ("figma", "fi" + "gd_", URL, 40, ""),
    ("github-fine-grained", "github" + "_pat_", BASE62, 22, "_" + drawn(BASE62, 59, 5)),
    ("gitlab", "gl" + "pat-", URL, 20, ""),
    ("google-api-key", "AI" + "za", URL, 35, ""),
    ("google-oauth", "GOC" + "SPX-", URL, 28, ""),
    ("grafana", "gl" + "sa_", BASE62, 32, "_" + drawn(HEX, 8, 3)),
    ("groq", "gs" + "k_", BASE62, 52, ""),
    ("huggingface", "h" + "f_", BASE62, 34, ""),
    ("linear", "lin" + "_api_", BASE62, 40, ""),
    ("mailgun", "ke" + "y-", HEX, 32, ""),
    ("netlify", "nf" + "p_", BASE62, 36, ""),
    ("new-relic", "NR" + "AK-", UPPER, 27, ""),
    ("notion", "nt" + "n_", BASE62, 46, ""),
    ("openai", "sk-" + "proj-", URL, 140, ""),
    ("openrouter", "sk-" + "or-v1-", HEX, 64, ""),
    ("perplexity", "pp" + "lx-", BASE62, 48, ""),
    ("planetscale", "pscale" + "_tkn_", BASE62, 43, ""),
    ("postman", "PM" + "AK-", HEX, 24, "-" + drawn(HEX, 34, 4)),
    ("pulumi", "pu" + "l-", HEX, 40, ""),
    ("pypi", "pypi" + "-AgEIcHlwaS5vcmc", URL, 130, ""),
    ("razorpay", "rzp" + "_live_", BASE62, 14, ""),
    ("replicate", "r" + "8_", BASE62, 37, ""),
    ("rubygems", "ruby" + "gems_", HEX, 48, ""),
    ("sendgrid", "S" + "G.", URL, 22, "." + drawn(URL, 43, 6)),
    ("shopify", "shp" + "at_", HEX, 32, ""),
    ("slack", "xox" + "b-730148259316-902714583627-", BASE62, 24, ""),
    ("sonarqube", "sq" + "p_", HEX, 40, ""),
    ("square", "sq0" + "csp-", URL, 43, ""),
    ("stripe", "sk_" + "live_", BASE62, 24, ""),
    ("supabase", "sb" + "p_", HEX, 40, ""),
    ("telegram", "730148259" + ":AA", URL, 33, ""),
    ("twilio", "S" + "K", HEX, 32, ""),
    ("vault", "hv" + "s.", URL, 95, ""),
    ("xai", "xa" + "i-", BASE62, 80, ""),
]


@pytest.mark.parametrize(("kind", "prefix", "alphabet", "length", "suffix"), SHAPES)
@pytest.mark.parametrize("seed", [1, 2])
def test_a_makers_token_goes(
    kind: str, prefix: str, alphabet: str, length: int, suffix: str, seed: int
) -> None:
    token = prefix + drawn(alphabet, length, seed) + suffix
    found = guarded(f"# hm\nx = f({token!r}, 1)\n", "python")
    assert found.text == f"# hm\nx = f('‹secret:{kind}:1›', 1)\n"
    (span,) = found.spans
    assert f"# hm\nx = f({token!r}, 1)\n"[span.start : span.end] == token


@pytest.mark.parametrize(("kind", "prefix", "alphabet", "length", "suffix"), SHAPES)
def test_a_shape_cut_short_or_made_up_stays(
    kind: str, prefix: str, alphabet: str, length: int, suffix: str
) -> None:
    short = prefix + drawn(alphabet, 8, 1)
    filled = prefix + "x" * length + suffix
    for text in (f"see {short} there", f"see {filled} there"):
        assert guarded(text, None).text == text


@pytest.mark.parametrize("prefix", ["gh" + "p_", "gh" + "s_", "np" + "m_"])
def test_a_checksum_tells_the_made_up_token(prefix: str) -> None:
    good = checked(prefix, 3)
    last = "0" if good[-1] != "0" else "1"
    assert good not in clean(f"see {good}")
    assert clean(f"see {good[:-1]}{last}") == f"see {good[:-1]}{last}"


@pytest.mark.parametrize(
    ("label", "kind"),
    [
        ("RSA PRIV" + "ATE KEY", "private-key"),
        ("PRIV" + "ATE KEY", "private-key"),
        ("OPENSSH PRIV" + "ATE KEY", "ssh-key"),
        ("PGP PRIV" + "ATE KEY BLOCK", "pgp-key"),
    ],
)
def test_each_line_of_a_key_goes_and_its_marks_stay(label: str, kind: str) -> None:
    block = key_block(label, 9)
    found = guarded(f"a\n{block}\nb\n", None).text.split("\n")
    assert found == [
        "a",
        f"-----BEGIN {label}-----",
        *[f"‹secret:{kind}:1›"] * 4,
        f"-----END {label}-----",
        "b",
        "",
    ]


def test_a_key_in_one_line_and_a_key_without_end() -> None:
    block = key_block("PRIV" + "ATE KEY", 9)
    body = block.split("\n")[1:-1]
    joined = guarded(block.replace("\n", "\\n"), None).text
    assert joined.count("‹secret:") == 1
    assert not any(line in joined for line in body)
    cut = guarded("\n".join(block.split("\n")[:-2]) + "\n\nprint(1)\n", None)
    assert cut.text.endswith("\n\nprint(1)\n") and cut.text.count("‹secret:") == 3


def test_a_public_key_and_a_bare_mark_stay() -> None:
    public = key_block("PUBLIC KEY", 9)
    mark = "if line == '-----BEGIN PRIV" + "ATE KEY-----':\n    return read(line)\n"
    assert guarded(public, None).text == public
    assert guarded(mark, "python").text == mark


def test_tokens_told_by_their_structure() -> None:
    token, basic, word = web_token(1), pair(2), drawn(BASE62, 16, 3)
    text = (
        f"t: {token}\nAuthorization: Basic {basic}\nAuthorization: Bearer {drawn(URL, 40, 4)}\n"
        f"db: postgres://app:{word}@db.local:5432/main\n"
        f"AccountKey={drawn(BASE62, 86, 5)}==;x\n"
    )
    found = guarded(text, None)
    assert [span.placeholder.split(":")[1] for span in found.spans] == [
        "jwt",
        "basic-header",
        "bearer-header",
        "url-password",
        "azure-storage",
    ]
    assert "postgres://app:‹secret:url-password:4›@db.local:5432/main" in found.text


@pytest.mark.parametrize(
    "text",
    [
        "https://user:password@host/",
        "https://user:${PASSWORD}@host/",
        "https://foo.com:123,bar.com:456/x@y",
        "Authorization: Bearer <token>",
        "Authorization: Basic dXNlcjpwYXNzd29yZA==",
        "eyJub3QiOiJhIHRva2VuIn0.eyJub3QiOiJhIHRva2VuIn0.c2ln",
    ],
)
def test_what_only_looks_like_a_structure_stays(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize(
    "form",
    [
        '{upper} = "{value}"',
        "{upper}={value}",
        "export {upper}='{value}'",
        '"{lower}": "{value}",',
        "{lower}: {value}",
        "{camel}: '{value}',",
        "- name: {upper}\n  value: {value}",
        'os.environ["{upper}"] = "{value}"',
        'os.getenv("{upper}", "{value}")',
        "<{camel}>{value}</{camel}>",
        "--{kebab} {value}",
        "--{kebab}={value}",
        "ENV {upper} {value}",
        'const {camel}: string = "{value}";',
        "https://host/x?{lower}={value}&y=1",
    ],
)
def test_a_drawn_value_under_a_telling_name_goes(form: str) -> None:
    value = drawn(BASE62, 32, 11)
    text = form.format(
        upper="CLIENT_SECRET",
        lower="client_secret",
        camel="clientSecret",
        kebab="client-secret",
        value=value,
    )
    found = clean(text)
    assert value not in found and "‹secret:credential:1›" in found


@pytest.mark.parametrize(
    "text",
    [
        'api_key = "your-api-key-goes-here"',
        'API_KEY = "<your key of 32 characters>"',
        "API_KEY=${OTHER_API_KEY}",
        'secret = "{{ vault.client_secret_1 }}"',
        "token = client.session.access_token2",
        "token = get_token(request, now_2)",
        'password = "password_field_name"',
        'key = "user_1_profile_settings"',
        'public_key = "' + drawn(HEX, 64, 1) + '"',
        'token_url = "https://login.local/oauth2/v2.0/token"',
        'TOKEN = "xxxxxxxxxxxxxxxxxxxxxxxx"',
        'secret_key_file = "/run/secrets/k8s-signing-7"',
        'author = "Xq7 Zt9 Wm4 Rk2"',
        '"integrity": "sha512-' + drawn(BASE62, 86, 1) + '=="',
        "max_tokens: 128000128000",
        'sort_key = "1f3870be274f6c49b3e31a0c6728957f"',
    ],
)
def test_written_values_and_untelling_names_stay(text: str) -> None:
    assert clean(text) == text


def test_secrets_are_counted_from_the_beginning_each_time_they_stand_there() -> None:
    one, two = checked("gh" + "p_", 1), "AK" + "IA" + drawn(BASE32, 16, 2)
    assert clean(f"{one} {two} {one}") == (
        "‹secret:github:1› ‹secret:aws-access-key:2› ‹secret:github:3›"
    )


def test_overlapping_finds_are_one() -> None:
    token = checked("gh" + "p_", 1)
    assert clean(f'GITHUB_TOKEN = "{token}"') == 'GITHUB_TOKEN = "‹secret:github:1›"'
    assert clean(f"https://x:{token}@github.com/a") == "https://x:‹secret:github:1›@github.com/a"


def test_a_placeholder_that_stands_there_already_stays() -> None:
    text = "a ‹secret:jwt:7› b password = ‹secret:credential:1›"
    assert clean(text) == text


def test_the_version_is_told() -> None:
    assert GUARD.startswith("guard/")


PIECES = st.sampled_from(
    [
        checked("gh" + "p_", 1),
        "AK" + "IA" + drawn(BASE32, 16, 2),
        web_token(3),
        key_block("PRIV" + "ATE KEY", 4, 2),
        f'password = "{drawn(BASE62, 20, 5)}"',
        f"postgres://a:{drawn(BASE62, 20, 6)}@h/",
        f"Authorization: Basic {pair(7)}",
        "‹secret:jwt:1›",
        "‹secret:",
        "-----BEGIN PRIV" + "ATE KEY-----\n",
        "-----END PRIV" + "ATE KEY-----\n",
        "-----BEGIN note-----",
        "---- ",
        drawn(BASE62, 40, 8),
        "password: ",
        "|",
        "%3D",
        "\x1b[31m",
        "\\u0027",
        "auth:{",
        "<![CDATA[",
        "**",
        "\n  ",
        "token=",
        '"',
        "\n",
        "\r\n",
        " ",
        "\u2028",
        "=",
        ":",
        "://",
        "@",
        "eyJ",
        "\\n",
        "\u200b",
        "\U000e0041",
        "é",
        "Bearer ",
    ]
)
TEXTS = st.lists(PIECES | st.text(max_size=8), max_size=12).map("".join)


@settings(max_examples=150, deadline=None)
@given(TEXTS, st.sampled_from(["python", "markdown", None]))
def test_laws_of_a_guarded_text(text: str, language: str | None) -> None:
    found = guarded(text, language)
    assert len(found.text.splitlines()) == len(text.splitlines())
    assert found.text.count("\n") == text.count("\n")
    assert guarded(found.text, language).text == found.text
    done, pieces = 0, list[str]()
    for span in found.spans:
        assert done <= span.start < span.end <= len(text)
        assert "\n" not in text[span.start : span.end]
        pieces += (text[done : span.start], span.placeholder)
        done = span.end
    assert "".join(pieces) + text[done:] == found.text
    for signal in found.signals:
        assert 1 <= signal.line <= text.count("\n") + 1


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_cleaned(text: str) -> None:
    once = clean(text)
    assert clean(once) == once


@settings(max_examples=80, deadline=None)
@given(st.lists(st.sampled_from(SHAPES), min_size=1, max_size=5), st.integers(0, 1 << 30))
def test_nothing_of_a_secret_is_left(
    shapes: list[tuple[str, str, str, int, str]], seed: int
) -> None:
    tokens = [
        prefix + drawn(alphabet, length, seed + number) + suffix
        for number, (_, prefix, alphabet, length, suffix) in enumerate(shapes)
    ]
    found = guarded("\n".join(f"v{n} = '{token}'" for n, token in enumerate(tokens)), "python")
    for token, shape in zip(tokens, shapes, strict=True):
        body = token.removeprefix(shape[1])
        assert not any(body[at : at + 8] in found.text for at in range(len(body) - 7))
