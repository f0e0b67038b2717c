"""Labelled samples: equal for equal seeds, marked where the secret stands, strictly read."""

from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path

import pytest
from fixtures.guard.describing import Structure
from fixtures.guard.drawing import crc32_base62
from fixtures.guard.obfuscating import RECIPES
from fixtures.guard.samples import (
    BadDescription,
    SecretSample,
    injection_samples,
    kinds,
    secret_samples,
    settings,
    survives,
)

KIND = """
[[kind]]
id = "acme"
maker = "Acme"
source = "https://acme.test/docs"
names = ["ACME_API_TOKEN"]
scheme = "amqp"
label = ["RSA PRIV", "ATE KEY"]
"""
YAML = """
[[setting]]
id = "yaml"
file = "values.yaml"
language = "yaml"
template = "a: %number%\\n  %camel%: %secret%\\n"
block = "a:\\n  %name%: |\\n    %secret%\\nb: 1\\n"
"""
STRUCTURES: tuple[Structure, ...] = (
    "plain", "assignment", "pem", "jwt", "url-userinfo", "header", "service-account-json",
)  # fmt: skip
JSON = """
[[setting]]
id = "json"
file = "a.json"
language = "json"
template = '{"%lower%": "%secret%", "share": "5 %of% it"}'
quote = "json"
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "descriptions.toml"
    path.write_text(text, encoding="utf-8")
    return path


def drawn(path: Path, seed: int = 1, each: int = 2) -> list[SecretSample]:
    return list(secret_samples(kinds(path), settings(path), seed=seed, each=each))


@pytest.mark.parametrize("structure", STRUCTURES)
def test_spans_are_the_secret_and_nothing_else(tmp_path: Path, structure: str) -> None:
    path = written(tmp_path, KIND + f'length = 100\nstructure = "{structure}"\n' + YAML + JSON)
    samples = drawn(path)
    assert samples == drawn(path) and samples != drawn(path, seed=2)
    assert len({sample.text for sample in samples}) == 4
    for sample in samples:
        hidden = sample.text
        for start, end in reversed(sample.spans):
            assert start < end and "\n" not in sample.text[start:end]
            hidden = hidden[:start] + "*" + hidden[end:]
        assert survives(sample, sample.text)
        assert not survives(sample, hidden)
        if sample.setting == "json":
            assert json.loads(sample.text)["share"] == "5 %of% it"


def test_lines_of_a_block_keep_the_indentation(tmp_path: Path) -> None:
    path = written(tmp_path, KIND + 'structure = "pem"\nlength = 150\n' + YAML)
    lines = drawn(path)[0].text.splitlines()
    assert lines[1] == "  ACME_API_TOKEN: |" and len(lines) == 2 + 2 + 3 + 1
    assert all(line.startswith("    ") for line in lines[2:7])


def test_prefix_suffix_body_and_checksum(tmp_path: Path) -> None:
    more = 'prefix = ["ac", "me_"]\nbody = ["HEX:4", "\'-", "digits:3-5"]\nsuffix = ["=", "="]\n'
    path = written(tmp_path, KIND + more + 'checksum = "crc32-base62"\n' + JSON)
    sample = drawn(path)[0]
    secret = json.loads(sample.text)["acme_api_token"]
    (start, end), body = sample.spans[0], secret[5:-8]
    assert sample.text[start:end] == secret and secret.startswith("acme_") and sample.prefix == 5
    assert body[4] == "-" and 8 <= len(body) <= 10 and secret[-8:-2] == crc32_base62(body)


@pytest.mark.parametrize("body", ["", "a", "Zebra41"])
def test_the_checksum_is_crc32_in_six_digits(body: str) -> None:
    number = 0
    for digit in (digits := crc32_base62(body)):
        at = ord(digit)
        number = number * 62 + at - (48 if at < 58 else 55 if at < 91 else 61)
    assert len(digits) == 6 and number == zlib.crc32(body.encode())


def test_a_setting_takes_only_what_fits(tmp_path: Path) -> None:
    assert drawn(written(tmp_path, KIND + JSON + 'fits = ["pem"]\n')) == []


@pytest.mark.parametrize(
    "text",
    [
        KIND + 'colour = "red"\n',
        KIND + 'structure = "round"\n',
        KIND + KIND,
        KIND + 'body = ["hex"]\n' + JSON,
        "[[kind]\n",
    ],
)
def test_what_is_not_documented_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadDescription):
        drawn(written(tmp_path, text))


def injection(words: str, more: str, setting: str) -> str:
    code = base64.b64encode(words.encode()).decode()
    return f"""
[[sample]]
id = "x-1"
tongue = "en"
setting = "place"
text = "{code}"
{more}

[[setting]]
id = "place"
file = "a.py"
language = "python"
{setting}
"""


def test_folded_lines_repeat_what_stands_before(tmp_path: Path) -> None:
    text = injection("one two three four", 'style = "paraphrase"',
                     'template = "x = 1\\n    # %text%\\n"\nwrap = 10')  # fmt: skip
    (sample,) = injection_samples(written(tmp_path, text), seed=1)
    assert sample.text == "x = 1\n    # one two\n    # three four\n"
    assert [sample.text[a:b] for a, b in sample.spans] == ["one two", "three four"]


@pytest.mark.parametrize("recipe", sorted(RECIPES))
def test_every_recipe_changes_the_words_and_repeats(tmp_path: Path, recipe: str) -> None:
    words = "look | at these seven words, please 10 times"
    text = injection(words, f'style = "obfuscated"\nrecipe = ["{recipe}"]',
                     'template = "<%text%>"')  # fmt: skip
    path = written(tmp_path, text)
    (sample,) = injection_samples(path, seed=1)
    assert words not in sample.text and [sample] == list(injection_samples(path, seed=1))
    assert sample.spans[0][0] == 1 and sample.spans[-1][1] == len(sample.text) - 1


@pytest.mark.parametrize(
    "more",
    [
        'style = "paraphrase"\nrecipe = ["spaced"]',
        'style = "obfuscated"',
        'style = "obfuscated"\nrecipe = ["unheard-of"]',
    ],
)
def test_a_recipe_belongs_to_obfuscated_samples(tmp_path: Path, more: str) -> None:
    path = written(tmp_path, injection("words", more, 'template = "%text%"'))
    with pytest.raises(BadDescription):
        list(injection_samples(path, seed=1))
