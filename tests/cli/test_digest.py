from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.cli.running import Cli


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest() + "\n"


@pytest.mark.parametrize(
    ("document", "canonical"),
    [
        (b' { "b" : 1.0 , "a" : [ ] } ', '{"a":[],"b":1}'),
        (b'{"B":1,"a":2,"10":3,"9":4}', '{"9":4,"10":3,"a":2,"B":1}'),
        (b'"\\u00e9\\ud800\\/"', '"é\\ud800/"'),
        (b"[1e21, -0, 0.1, 1e-7]", "[1e+21,0,0.1,1e-7]"),
        (b"[123456789012345678901]", "[123456789012345680000]"),
        (b"\xef\xbb\xbfnull\n", "null"),
        (b'{"a":1,"a":2}', '{"a":2}'),
    ],
)
def test_it_is_the_sha256_of_the_canonical_text(cli: Cli, document: bytes, canonical: str) -> None:
    found = cli("digest", stdin=document)
    assert (found.code, found.out.decode(), found.err) == (0, sha256(canonical), "")


def test_a_file_and_standard_input_give_the_same(cli: Cli, surface: Path) -> None:
    named = cli("digest", surface)
    piped = cli("digest", stdin=surface.read_bytes())
    dashed = cli("digest", "-", stdin=surface.read_bytes())
    assert named == piped == dashed
    assert len(named.out) == 65


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b'{"a":1}{"b":2}', "not JSON"),
        (b'{"a":NaN}', "NaN"),
        (b"[Infinity]", "Infinity"),
        (b"[1e400]", "1e400"),
        (b"[1" + b"0" * 400 + b"]", "double"),
        (b"[1" + b"0" * 350 + b"]", "double"),
        (b'"\xff"', "not UTF-8"),
        (b"[" * 10_000 + b"]" * 10_000, "512"),
        (b'"a\nb"', "not JSON"),
    ],
    ids=lambda value: repr(value[:20]),
)
def test_what_is_no_document_is_one_sentence(
    cli: Cli, place: Path, document: bytes, words: str
) -> None:
    cli("digest", stdin=document).complains(2, words)
    (place / "a.json").write_bytes(document)
    cli("digest", place / "a.json").complains(2, words, str(place / "a.json"))


def test_512_levels_are_fine(cli: Cli) -> None:
    text = "[" * 512 + "]" * 512
    assert cli("digest", stdin=text.encode()).out.decode() == sha256(text)


def test_a_document_beyond_the_limit_is_refused(
    cli: Cli, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fabricd.daemon.cli.digest._MAX", 1 << 20)
    whole = b'"' + b"x" * ((1 << 20) - 2) + b'"'
    assert cli("digest", stdin=whole).code == 0
    cli("digest", stdin=whole + b"\n").complains(2, "larger than 1 MiB")
    (place / "a.json").write_bytes(whole + b"\n")
    cli("digest", place / "a.json").complains(2, "larger than 1 MiB", "a.json")


@pytest.mark.parametrize("name", ["missing.json", ".", "file/below"])
def test_a_file_that_cannot_be_read_is_one_sentence(cli: Cli, place: Path, name: str) -> None:
    (place / "file").write_text("{}")
    cli("digest", place / name).complains(2, str(place))
