from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.context.pointing import case_of, is_called, plain


@pytest.mark.parametrize(
    ("what", "meant"),
    [
        ("src/a.py", "src/a.py"),
        ("src/a.py:12", "src/a.py:12"),
        ("src/a.py:12-20", "src/a.py:12-20"),
        ("src/a.py:12:5", "src/a.py:12"),
        ("src/a.py:12:5:", "src/a.py:12"),
        ("src/a.py#L12", "src/a.py:12"),
        ("src/a.py#L12-L20", "src/a.py:12-20"),
        ("src/a.py:L12-20", "src/a.py:12-20"),
        ("src/a.ts(12,5)", "src/a.ts:12"),
        ('File "src/my file.py", line 12, in <module>', "src/my file.py:12"),
        (' File "src/a.py", line 12', "src/a.py:12"),
        ("`send`", "send"),
        ("Client.send()", "Client.send"),
        ("cr_0123456789abcdef#12", "cr_0123456789abcdef#12"),
        ("C:/a.py", "C:/a.py"),
        ("", ""),
    ],
)
def test_places_and_names_are_read_as_others_spell_them(what: str, meant: str) -> None:
    assert plain(what) == meant


@given(st.text("ab/.:#L()`1 -", max_size=20))
def test_a_plain_spelling_of_a_place_stays(what: str) -> None:
    found = plain(what)
    if ":" in found and found != what:
        assert plain(found) == found


def test_a_test_case_is_a_path_and_a_name() -> None:
    assert case_of("tests/test_a.py::TestA::test_b[x::y]") == ("tests/test_a.py", "TestA.test_b")
    assert case_of("std::vec") is None
    assert case_of("tests/test_a.py") is None
    assert case_of("::a") is None


@pytest.mark.parametrize(
    "wanted",
    [
        "first",
        "Kind.first",
        "Kind::first",
        "Kind#first",
        "resume.Kind.first",
        "core.resume.Kind.first",
        "package.core.resume.Kind.first",
    ],
)
def test_a_unit_is_called_by_its_type_and_its_module(wanted: str) -> None:
    assert is_called("core/resume.py", "Kind.first", wanted)


@pytest.mark.parametrize(
    "wanted", ["irst", "Other.first", "other.Kind.first", "resume.first", "x.core.y.Kind.first"]
)
def test_a_unit_is_not_called_by_other_names(wanted: str) -> None:
    assert not is_called("core/resume.py", "Kind.first", wanted)


def test_a_package_is_a_module_too() -> None:
    assert is_called("pkg/__init__.py", "load", "pkg.load")
    assert not is_called("top.py", "load", "x.load")
    assert is_called("", "load", "load")
