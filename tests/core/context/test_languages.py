"""Languages by name, by first line; what is no text and what nobody reads."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.context.languages import LONGEST_LINE, is_minified, language_of


@pytest.mark.parametrize(
    ("path", "head", "expected"),
    [
        ("a/b.py", b"", "python"),
        ("B.PYI", b"", "python"),
        ("a.tsx", b"", "tsx"),
        ("a.mts", b"", "typescript"),
        ("a.jsx", b"", "javascript"),
        ("a.h", b"int f(void);\n", "c"),
        ("a.h", b"#pragma once\nnamespace x {\n", "cpp"),
        ("a.h", b"template <class T>\nclass X {};", "cpp"),
        ("a.inc", b"<?php echo 1;", "php"),
        ("a.inc", b"; assembler", "text"),
        ("README.md", b"", "markdown"),
        ("a.mdx", b"", "markdown"),
        ("docs/a.rst", b"", "rst"),
        ("Rakefile", b"", "ruby"),
        ("Makefile", b"all:\n", "text"),
        ("package.json", b"{}", "text"),
        (".py", b"", "text"),
        ("run", b"#!/usr/bin/env python3\n", "python"),
        ("run", b"#!/usr/bin/env -S node --flag\n", "javascript"),
        ("run", b"#! /bin/sh -e\n", "bash"),
        ("run", b"\xef\xbb\xbf#!/usr/bin/ruby\n", "ruby"),
        ("run", b"#!/usr/bin/awk\n", "text"),
        ("a.py", b"x = 1\0", None),
        ("a.png", b"\x89PNG\0", None),
        ("a.txt", b"\xff\xfe\x00a", None),
    ],
)
def test_language(path: str, head: bytes, expected: str | None) -> None:
    assert language_of(path, head) == expected


@given(path=st.text(max_size=30), head=st.binary(max_size=200))
def test_any_path_has_an_answer(path: str, head: bytes) -> None:
    assert (language_of(path, head) is None) == (b"\0" in head)


def test_a_long_line_is_machine_made() -> None:
    assert not is_minified("short\n" * 1000 + "x" * LONGEST_LINE)
    assert is_minified("short\n" + "x" * (LONGEST_LINE + 1) + "\nshort")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", False),
        ("x" * LONGEST_LINE, False),
        ("x" * (LONGEST_LINE + 1), True),
        ("x" * LONGEST_LINE + "\n", False),
        ("\n" + "x" * LONGEST_LINE + "\n" + "x" * LONGEST_LINE, False),
        ("\n" * (2 * LONGEST_LINE), False),
        ("x\n" * LONGEST_LINE + "x" * (LONGEST_LINE + 1), True),
        ("\u2026" * LONGEST_LINE, False),
        ("x\r\u2028" * LONGEST_LINE, True),
    ],
)
def test_a_line_is_as_long_as_its_characters(text: str, expected: bool) -> None:
    assert is_minified(text) is expected


@given(
    sizes=st.lists(
        st.one_of(
            st.integers(0, 3), st.integers(LONGEST_LINE - 3, LONGEST_LINE + 1), st.integers(0, 5000)
        ),
        max_size=6,
    )
)
def test_the_longest_line_decides(sizes: list[int]) -> None:
    assert is_minified("\n".join("x" * size for size in sizes)) == (
        max(sizes, default=0) > LONGEST_LINE
    )
