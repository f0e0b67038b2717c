"""Containers that one line opens, and types with a macro before their name."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.context.parsing.test_parser import check
from tests.growth import grows_with_length

from fabricd.core.context.parsing.macros import without_macros
from fabricd.core.context.parsing.parser import lines_of, parse

METHODS = "".join(f"  int m{n}(int x) {{\n    return x;\n  }}\n\n" for n in range(20))
OPENINGS = [
    ("cpp", "namespace A { namespace B {", METHODS, "}}", "module", "function"),
    ("cpp", "namespace A { class Fwd; namespace B {", METHODS, "} }", "module", "function"),
    ("java", "class A { static class B {", METHODS, "}}", "class", "method"),
    ("csharp", "namespace A { class B {", METHODS, "}}", "class", "method"),
    ("ruby", "module A; module B", "  def m\n    1\n  end\n" * 20, "end; end", "module", "method"),
    (
        "typescript",
        "namespace A { export namespace B {",
        "  export function m() {\n    return 1\n  }\n" * 20,
        "}}",
        "module",
        "function",
    ),
    ("rust", "mod A { pub mod B {", "  fn m() {\n    1\n  }\n" * 20, "}}", "module", "function"),
]


@pytest.mark.parametrize(("language", "opening", "body", "closing", "kind", "inner"), OPENINGS)
def test_containers_that_one_line_opens_are_one_head(
    language: str, opening: str, body: str, closing: str, kind: str, inner: str
) -> None:
    text = f"{opening}\n{body}{closing}\n"

    parsed = parse(text, language)

    check(parsed, lines_of(text))
    head, *members = parsed.units
    assert (head.kind, head.qualified, head.lines, head.opening) == (kind, "A.B", (1, 1), (1, 1))
    assert len(members) == 20
    assert {(one.kind, one.container, one.parent) for one in members} == {(inner, "A.B", 0)}


def test_what_follows_the_inner_container_is_in_the_outer_one() -> None:
    text = f"namespace a {{ class B {{\n{METHODS}}};\n\nint after() {{\n  return 1;\n}}\n}}\n"

    parsed = parse(text, "cpp")

    check(parsed, lines_of(text))
    head, *members, last = parsed.units
    assert (head.kind, head.qualified) == ("class", "a.B")
    assert {(one.kind, one.container) for one in members} == {("method", "a.B")}
    assert (last.kind, last.qualified, last.parent) == ("function", "a.after", 0)


def test_a_small_type_on_the_opening_line_stays_in_the_head() -> None:
    text = "namespace a { struct B {\n  int x;\n};\nint after() {\n  return 1;\n}\n}\n"

    units = parse(text, "cpp").units

    assert [(one.qualified, one.lines) for one in units] == [("a", (1, 3)), ("a.after", (4, 7))]


def test_a_line_opens_only_so_many() -> None:
    text = "namespace a { " * 200 + "\n" + METHODS + "}" * 200 + "\n"

    check(parse(text, "cpp"), lines_of(text))


def test_a_typedef_holds_what_its_struct_holds() -> None:
    nested = "".join(f"  struct in{n} {{\n    int x;\n    int y;\n  }} f{n};\n" for n in range(20))
    text = f"typedef struct tag {{\n{nested}}} named;\n"

    head, *members = parse(text, "c").units

    assert (head.kind, head.qualified, head.lines) == ("struct", "named", (1, 1))
    assert [one.qualified for one in members] == [f"named.in{n}" for n in range(20)]


@pytest.mark.parametrize(
    "opening",
    [
        "class EXPORT_API Foo : public Bar {",
        "class EXPORT_API Foo {",
        "class EXPORT_API Foo final : public Bar {",
        "class EXPORT_API Foo\n    : public Bar\n{",
        "class my_export Foo : public Bar {",
        "class my_export Foo {",
        'class DEPRECATED("why") EXPORT_API Foo final {',
        "class __declspec(dllexport) Foo : Bar {",
        "template <class T> class EXPORT_API Foo {",
    ],
)
def test_a_macro_before_the_name_of_a_class(opening: str) -> None:
    text = f"{opening}\n public:\n{METHODS}}};\n\nint after() {{\n  return 1;\n}}\n"

    parsed = parse(text, "cpp")

    check(parsed, lines_of(text))
    head, *members, last = parsed.units
    assert (head.kind, head.qualified) == ("class", "Foo")
    assert [one.qualified for one in members] == [f"Foo.m{n}" for n in range(20)]
    assert (last.kind, last.qualified) == ("function", "after")


def test_a_macro_is_still_a_word_of_its_unit() -> None:
    (unit,) = parse("struct LIB_EXPORT Foo {\n  int x;\n};\n", "c").units

    assert (unit.kind, unit.name, unit.lines) == ("struct", "Foo", (1, 3))
    assert "export" in parse("struct LIB_EXPORT Foo {\n  int x;\n};\n", "c").terms[0]


@pytest.mark.parametrize(
    "text",
    [
        "class Foo final : public Bar {\n};\n",
        "class FOO final {\n};\n",
        "class Foo sealed : public Bar {\n};\n",
        "struct sockaddr_in addr{};\n",
        "struct sockaddr_in addr{\n  .sin_family = 1,\n};\n",
        "for (struct FOO x : many) {\n}\n",
        "for (struct foo x : many) {\n}\n",
        "struct foo *bar(void) {\n}\n",
        "class EXPORT_API Foo;\n",
        "subclass EXPORT_API Foo {\n",
        "struct A a::b() {\n}\n",
        "enum class Foo : int {\n};\n",
    ],
)
def test_no_macro(text: str) -> None:
    assert without_macros(text.encode()) == text.encode()


WORDS = "class |struct |EXPORT |__api(|1) |Foo|::|<|>|final|: public |{|}|;|\n|\r\n| |é".split("|")


@given(st.lists(st.sampled_from(WORDS), max_size=40).map("".join))
@settings(max_examples=200, deadline=None)
def test_all_else_stays_where_it_is(text: str) -> None:
    source = text.encode()

    hidden = without_macros(source)

    assert len(hidden) == len(source)
    assert all(
        new == old or (new == 32 and old not in b"\r\n")
        for new, old in zip(hidden, source, strict=True)
    )


@pytest.mark.parametrize(
    "text",
    ["class ", "class A ", "class A B<", "class A(", "class A::", "class A" + "\n" * 9, "A " * 9],
)
def test_much_of_the_same_takes_time_by_its_length(text: str) -> None:
    written = text.encode()

    for start, again in ((b"", written), (b"class ", written[-1:]), (b"class A", written[-1:])):
        assert grows_with_length(
            lambda length, start=start, again=again: start + again * (length // len(again)),
            without_macros,
            200_000,
        )
