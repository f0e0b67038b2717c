"""What is counted in clear, what leaves no trace, and names that no reader refuses."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fabricd.core.documents import strict_json
from fabricd.core.entropy.observations import Observed, scalars_of, typed_text
from fabricd.core.javascript import join_surrogates, trim
from fabricd.core.model import AuditCall
from fabricd.core.pool.export import export_steps
from fabricd.core.pool.file import Pool, observed, pool_bytes, pool_of
from fabricd.core.pool.ledger import Change, Ledger, merge_steps, record_steps
from fabricd.core.pool.values import (
    OTHER,
    identities_of,
    identity_of,
    in_clear,
    is_secret_name,
    looks_secret,
    read_name,
    session_name,
    written_name,
)
from fabricd.core.sessions.audits import Audited
from fabricd.core.steps import finish
from tests.core.strategies import characters

# Every blank that a reader trims, and everything else that it trips over.
odd_names = st.one_of(
    st.sampled_from(["", " ", "a", "a ", " a", "\ufeffa", "\0", "a\0b", '"', '"a"', '"\\ud800"']),
    st.text(st.sampled_from('a "\\\0\u2028\ufeff\ud800\udc00,:{}'), max_size=5),
    st.text(characters, max_size=8),
).map(join_surrogates)  # No reader of JSON leaves the halves of a pair apart.


def pooled(*calls: AuditCall) -> tuple[Ledger, Pool]:
    """One session that makes these calls."""
    ledger = Ledger()
    record = finish(record_steps(ledger, Audited("0000000a", calls), 0))
    finish(merge_steps(ledger, Change("session:s", "/s.jsonl", "", (record,), True)))
    return ledger, finish(export_steps(ledger))


def reloaded(pool: Pool) -> Pool:
    """The pool as its file is read back."""
    found = pool_of(strict_json(pool_bytes(pool)))
    assert found is not None
    return found


@settings(max_examples=150)
@given(odd_names)
def test_a_name_can_be_read_back_and_stands_any_reader(name: str) -> None:
    written = written_name(name)
    assert read_name(written) == name
    assert written == trim(written) != "" and "\0" not in written
    written.encode()


@settings(max_examples=150)
@given(odd_names, odd_names)
def test_different_names_are_written_differently(one: str, other: str) -> None:
    assert (written_name(one) == written_name(other)) == (one == other)
    assert (session_name(one) == session_name(other)) == (one == other)


@settings(max_examples=200)
@given(st.dictionaries(odd_names, st.sampled_from(["x", 1, True, -0.5]), max_size=5), odd_names)
@example({"": 1, " ": 1, "a": 1, "a ": 1, "\ufeffa": 1, '"a "': 1, "\ud800": 1, "a\0": 1}, "r\0")
def test_any_argument_name_makes_the_way_through_the_file(args: dict[str, Any], ref: str) -> None:
    ledger, pool = pooled(AuditCall(ref, args))
    msgspec.msgpack.encode(ledger)
    assert reloaded(pool) == pool
    shown = {key for key in args if not is_secret_name(key) and not looks_secret(key)}
    expected = [Observed(ref, key, args[key]) for key in shown]
    found = {(row.ref, row.key): row for row in observed(reloaded(pool))}
    assert found == {(row.ref, row.key): row for row in expected}


@settings(max_examples=100)
@given(
    st.one_of(
        st.integers(-(10**20), 10**20),
        st.floats(allow_nan=False, allow_infinity=False),
        st.booleans(),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    )
)
def test_a_value_in_clear_is_read_back_as_it_was(value: Any) -> None:
    _, pool = pooled(AuditCall("r", {"k": value}))
    (row,) = observed(reloaded(pool))
    assert typed_text(row.value) == typed_text(value)


# --- what is hidden

LONG = "é" * 129
SECRETS = [
    LONG,
    "x" * 257,
    "sk-live1",
    "ghp_abcdef",
    "github_pat_1",
    "xoxb-12",
    "AKIAIOSFODNN7",
    "AIzaSy1",
    "glpat-1",
    "eyJhbGciOi",
    "-----BEGIN RSA",
    "Bearer abc",
    "abcdefghij0123456789",
    "see abcdefghijklmnopqrst1 there",
    "\ud800 no text",
]
PLAIN = ["x" * 256, "é" * 128, "a b c", "abcdefghijklmnopqrst", "12345678901234567890", "basic", ""]


@pytest.mark.parametrize("value", [*SECRETS, 10**400, float("inf")])
def test_what_is_long_or_looks_secret_counts_and_leaves_no_trace(value: Any) -> None:
    (identity,) = identities_of(AuditCall("r", {"k": value}))
    assert (identity.kind, identity.text) == (OTHER, "")
    _, pool = pooled(AuditCall("r", {"k": value}), AuditCall("r", {"k": "plain"}))
    (entry,) = reloaded(pool).entries
    assert entry.total == 2 and [row.value for row in entry.values] == ["plain"]
    assert list(observed(pool)) == []
    assert pool.tracked[0].counts == {"r\0k\0other:": 1, "r\0k\0string:plain": 1}


@pytest.mark.parametrize("value", PLAIN)
def test_what_is_short_and_plain_is_kept(value: str) -> None:
    assert not looks_secret(value)
    assert identity_of("r", "k", value).text == value


@pytest.mark.parametrize(
    "key",
    "token password api_key apiKey API-KEY access_token Authorization cookie client.secret "
    "passwords credential x_auth_token".split(),
)
def test_whatever_a_secret_is_called_its_value_is_not_kept(key: str) -> None:
    assert is_secret_name(key)
    for value in ("hunter2", 1234, True):
        assert identity_of("r", written_name(key), value).kind == OTHER


@pytest.mark.parametrize("key", ["maxTokens", "max_output_tokens", "path", "tokenizer", "keyboard"])
def test_what_only_sounds_like_a_secret_is_counted(key: str) -> None:
    assert not is_secret_name(key)


def test_no_byte_of_a_secret_is_in_books_or_pool() -> None:
    calls = [AuditCall("r", {"k": value, "token": "hunter2"}) for value in SECRETS]
    ledger, pool = pooled(*calls, AuditCall("r", {"k": "plain"}))
    stored = pool_bytes(pool) + msgspec.msgpack.encode(ledger)
    for value in (*SECRETS, "hunter2"):
        raw = value.encode("utf-8", "replace")
        assert raw not in stored and json.dumps(value)[1:-1].encode() not in stored
    by_key = {entry.key: entry.total for entry in pool.entries}
    assert by_key == {"k": len(SECRETS) + 1, "token": len(SECRETS)}


def test_names_beyond_any_sense_are_not_counted() -> None:
    calls = [AuditCall("r" * 1025, {"k": 1}), AuditCall("r", {"k" * 1025: 1, "l": 1})]
    _, pool = pooled(*calls)
    assert [(entry.ref, entry.key) for entry in pool.entries] == [("r", "l")]


def test_containers_and_nothing_are_no_values() -> None:
    _, pool = pooled(AuditCall("r", {"a": None, "b": [], "c": {}, "d": 0}))
    assert [entry.key for entry in pool.entries] == ["d"]


# --- the order of arguments


@given(st.dictionaries(st.sampled_from(["10", "9", "b", "0", "01", "a"]), st.integers()))
def test_index_names_come_first_in_numeric_order(args: dict[str, int]) -> None:
    names = [name for name, _ in scalars_of(AuditCall("r", args))]
    indices = [name for name in ("0", "9", "10") if name in args]
    assert names == indices + [name for name in args if name not in indices]


def test_many_index_names_take_no_longer_than_others() -> None:
    args = {str(number): 1 for number in range(40_000)} | {f"k{n}": 1 for n in range(40_000)}
    assert sum(1 for _ in scalars_of(AuditCall("r", args))) == 80_000


def test_what_a_pool_would_not_keep_in_clear_is_not_reviewed_either() -> None:
    rows = [
        Observed("a.b", "mode", "fast"),
        Observed("a.b", "mode", "slow"),
        Observed("a.b", "key", "plain"),
        Observed("a.b", "key", "sk-live-abcdefghijklmnop1234"),
        Observed("a.b", "password", "hunter2"),
    ]
    assert in_clear(rows) == rows[:2]


@pytest.mark.parametrize(
    "value",
    [
        "postgres://admin:hunter2pw@db/prod",
        "curl -H 'Authorization: Bearer abcd1234efgh'",
        "export X=ghp_shortsecret1",
        " sk-live-abc",
        "PGPASSWORD=hunter2 psql",
        "token=abc12",
        '{"api_key": "k"}',
    ],
)
def test_a_secret_inside_a_text_hides_it(value: str) -> None:
    assert looks_secret(value)


@pytest.mark.parametrize(
    ("key", "secret"),
    [
        *((key, True) for key in ("pwd", "pass", "passcode", "auth", "otp", "pin", "accessKey")),
        *((key, True) for key in ("connectionString", "access_token_value", "API-Key")),
        *((key, False) for key in ("maxTokens", "token_count", "tokenizer", "path", "passing")),
    ],
)
def test_names_of_secrets(key: str, secret: bool) -> None:
    assert is_secret_name(key) is secret


@pytest.mark.parametrize("value", ["fast", "task-runner", "basic usage", "risk-based", "a:b@c"])
def test_plain_words_stay_in_clear(value: str) -> None:
    assert not looks_secret(value)
