"""How others point at code: compilers, tests, traces and pages, each in a spelling of its own."""

from __future__ import annotations

import re

_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        # A compiler's `path:12:5`, of which the column is no line.
        r"(?P<path>[^\s:]+):(?P<first>[0-9]{1,9}):[0-9]{1,9}:?",
        # The address of a line on a page.
        r"(?P<path>[^\s:#]+)(?:#|:)L(?P<first>[0-9]{1,9})(?:-L?(?P<last>[0-9]{1,9}))?",
        r"(?P<path>[^\s:(]+)\((?P<first>[0-9]{1,9})(?:,[0-9]{1,9})?\)",
        r"""File\ "(?P<path>[^"]+)",\ line\ (?P<first>[0-9]{1,9})(?:,\ in\ .*)?""",
    )
)
_CASE = re.compile(r"\[.*\]", re.DOTALL)


def plain(what: str) -> str:
    """`path:a-b` or a symbol, whoever spelled it; what is in no known spelling stays as it is.

    `a.py:12:5`, `a.py#L12-L20`, `a.ts(12,5)`, `File "a.py", line 12, in f`, `f()`, and each of them
    in backticks.
    """
    what = what.strip().strip("`").strip()
    for pattern in _PATTERNS:
        if (found := pattern.fullmatch(what)) is not None:
            last = found.groupdict().get("last")
            return f"{found['path']}:{found['first']}" + (f"-{last}" if last else "")
    return what.removesuffix("()")


def case_of(what: str) -> tuple[str, str] | None:
    """The path and the dotted name of a test case's `path::Class::name[case]`; None: it is none."""
    path, mark, name = what.partition("::")
    if not mark or not path or "." not in path:
        return None
    return path, _CASE.sub("", name).replace("::", ".")


def is_called(path: str, qualified: str, wanted: str) -> bool:
    """Whether a unit of a file is meant by a name, which may begin with its type or its module.

    A module may have more before it than the path tells: packages are mapped to folders.
    """
    wanted = re.sub(r"::|#", ".", wanted)
    if f".{qualified}".endswith(f".{wanted}"):
        return True
    module = path.rpartition(".")[0].removesuffix("/__init__").replace("/", ".")
    if "." not in wanted or not module:
        return False
    whole = f".{module}.{qualified}"
    return whole.endswith(f".{wanted}") or ("." in module and f".{wanted}".endswith(whole))
