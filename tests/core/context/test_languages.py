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
