"""What kind of file a path is, and which kinds a query asks for."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, TypeAlias

PathKind: TypeAlias = Literal["source", "test", "doc", "config", "example", "vendored"]

# At the top of a tree or of a package in it; deeper such names are names of subjects.
_TOP = r"^(?:(?:packages|apps|crates|libs)/[^/]+/)?"

_VENDORED = re.compile(
    r"(?:^|/)(?:vendor|vendored|_vendor|third_party|node_modules|generated|locales?|i18n"
    r"|translations|deno_dist|__snapshots__)/"
    rf"|{_TOP}(?:dist|build|out)/"
    r"|\.(?:svg|csv|tsv|po|pot|map|snap|lock)$|[.-]lock\.(?:json|ya?ml)$"
    r"|\.min\.|[._](?:pb2?|generated|gen)\.",
    re.IGNORECASE,
)
_TEST = re.compile(
    r"(?:^|/)(?:tests?|__tests__|__mocks__|specs?|e2e|fixtures|testdata|[^/]*[-_]tests?)/"
    rf"|{_TOP}testing/"
    r"|\.(?:test|spec|bench)\.|(?:^|/)(?:test_|conftest\.)|_(?:test|spec)\."
    r"|(?-i:[a-z](?:Tests?|Spec)\.(?:java|kt|cs|scala|swift|php)$)",
    re.IGNORECASE,
)
_EXAMPLE = re.compile(
    r"(?:^|/)(?:examples?|samples?|demos?|bench(?:marks?)?)/"
    rf"|{_TOP}(?:scripts?|tools|playground)/",
    re.IGNORECASE,
)
_DOC = re.compile(
    r"(?:^|/)(?:docs?|documentation|website|changelog)/|\.(?:md|mdx|rst|txt|adoc)$"
    r"|(?:^|/)(?:changes|changelog|licen[cs]e|readme|authors|copying|notice)[^/.]*$",
    re.IGNORECASE,
)
_CONFIG = re.compile(
    r"\.(?:json|ya?ml|toml|ini|cfg|conf|properties|xml)$|(?:^|/)\.|\.config\.", re.IGNORECASE
)

_WISHES: dict[PathKind, frozenset[str]] = {
    "test": frozenset({"test", "tests", "testsuite", "unittest", "unittests"}),
    "doc": frozenset({"doc", "docs", "documentation", "readme", "changelog", "tutorial"}),
    "config": frozenset({"ci", "workflow", "workflows", "yaml", "toml", "dockerfile"}),
    "example": frozenset({"example", "examples", "benchmark", "benchmarks"}),
    "vendored": frozenset({"locale", "locales", "translation", "translations", "vendor"}),
}
# A question for tests alone: what somebody tested, or a second question, asks for none.
_ASKED = re.compile(r"\W*(?:where|how|is|are)\b[^.?!,;\n]{0,80}\btested\b")
_WORD = re.compile(r"[a-z_]+")
_INDEXES = frozenset({"__init__", "index", "mod", "lib", "main"})
_TESTING = re.compile(r"^tests?[_-]|[_-]tests?$|[_-]spec$", re.IGNORECASE)


@lru_cache(maxsize=1 << 16)
def kind_of(path: str) -> PathKind:
    """What a file is, by its path alone."""
    if _VENDORED.search(path):
        return "vendored"
    if _TEST.search(path):
        return "test"
    if _EXAMPLE.search(path):
        return "example"
    if _DOC.search(path):
        return "doc"
    return "config" if _CONFIG.search(path) else "source"


def wished(query: str) -> frozenset[PathKind]:
    """The kinds of file that a query asks for in so many words."""
    lower = query.lower()
    words = frozenset(_WORD.findall(lower))
    found: set[PathKind] = {kind for kind, names in _WISHES.items() if words & names}
    if _ASKED.match(lower):
        found.add("test")
    return frozenset(found)


def subject_of(path: str) -> str:
    """What a file is about by its name, of a test what it tests; of `index.ts` by its folder's."""
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    if stem in _INDEXES:
        stem = folder.rpartition("/")[2]
    return _TESTING.sub("", stem)
