"""What a query says."""

from __future__ import annotations

from fabricd.core.context.ranking.places import Place
from fabricd.core.context.ranking.wanted import MOST_TERMS, Symbol, forms_of, wanted
from fabricd.core.context.ranking.weights import WEIGHTS


def _symbols(query: str) -> tuple[Symbol, ...]:
    return wanted(query, WEIGHTS).symbols


def _places(query: str) -> tuple[Place, ...]:
    return wanted(query, WEIGHTS).places


def test_names_of_definitions() -> None:
    assert _symbols("Client.send fails") == (Symbol("send", "Client"),)
    assert _symbols("fix parse_url and getName") == (Symbol("parse_url"), Symbol("getName"))
    assert _symbols("`parse` is slow") == (Symbol("parse", "", True),)
    assert _symbols("parse() is slow") == (Symbol("parse", "", True),)
    assert _symbols("types of .parse are wrong") == (Symbol("parse", "", True),)
    assert _symbols("a::b::run") == (Symbol("run", "b"),)
    assert _symbols("the parser is slow") == ()
    assert _symbols("parse") == (Symbol("parse"),)


def test_the_method_of_a_pointer() -> None:
    assert _symbols("main.(*Client).Do hangs") == (Symbol("Do", "Client"),)
    assert _symbols("(*Client).Do") == (Symbol("Do", "Client"),)
    assert _symbols("net/http.(*Client).Do(0xc0)")[-1] == Symbol("Do", "Client", True)
    assert _symbols("call(*args).run") == (Symbol("call", "", True),)
    assert wanted("main.(*Client).Do", WEIGHTS).only
    assert wanted("main.(*Client).Do(0xc000, {0x1, 2})", WEIGHTS).only
    assert not wanted("main.(*Client).Do hangs", WEIGHTS).only


def test_places() -> None:
    assert _places("src/x.py:120") == (Place("src/x.py", 120),)
    assert _places('  File "/home/me/x.py", line 7, in run') == (Place("home/me/x.py", 7),)
    assert _places("at run (./src/a.ts:10:5)") == (Place("src/a.ts", 10),)
    assert _places("models.py is slow") == (Place("models.py"),)
    assert _places("see src/a.go#L12") == (Place("src/a.go", 12),)
    assert _places("nothing here") == ()


def test_the_whole_of_a_compound_weighs_more_than_its_parts() -> None:
    terms = {term.text: term for term in wanted("fix parse_url quickly", WEIGHTS).terms}
    assert terms["parseurl"].weight == WEIGHTS.compound
    assert terms["url"].weight == WEIGHTS.parts
    assert terms["fix"].weight == WEIGHTS.wish
    assert [term.is_wish for term in terms.values()] == [True, False, False, False, False]


def test_a_long_trace_keeps_its_beginning_and_its_end() -> None:
    words = " ".join(f"word{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(200))
    terms = [term.text for term in wanted(words, WEIGHTS).terms]
    assert len(terms) == MOST_TERMS
    assert terms[0] == "wordaa"
    assert terms[-1] == "wordhr"


def test_a_scope() -> None:
    assert wanted("fixtures: do not crash", WEIGHTS).scope == {"fixtur"}
    assert wanted("fix(router): do not crash", WEIGHTS).scope >= {"router"}
    assert wanted("do not crash: ever", WEIGHTS).scope == frozenset()


def test_forms_of_a_word() -> None:
    assert "deprecat" in forms_of("deprecation")
    assert "deprecation" in forms_of("deprecat")
    assert "pars" in forms_of("parser")
    assert forms_of("pars")[1] == "parser"
    assert "serializ" in forms_of("serialization")
    assert forms_of("io") == ()
    assert forms_of("http2") == ()
    assert forms_of("ошибка") == ()
