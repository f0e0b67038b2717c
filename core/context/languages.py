"""Which language a file is in, by its name or else its first line; and what is no source."""

from __future__ import annotations

import re

HEAD = 8192  # how many bytes `language_of` wants to see
LONGEST_LINE = 2000  # characters; above it a text was made by a machine for a machine

_BY_SUFFIX = {
    "py": "python",
    "pyi": "python",
    "pyw": "python",
    "js": "javascript",
    "jsx": "javascript",
    "mjs": "javascript",
    "cjs": "javascript",
    "ts": "typescript",
    "mts": "typescript",
    "cts": "typescript",
    "tsx": "tsx",
    "go": "go",
    "rs": "rust",
    "java": "java",
    "c": "c",
    "h": "c",
    "cc": "cpp",
    "cpp": "cpp",
    "cxx": "cpp",
    "c++": "cpp",
    "hh": "cpp",
    "hpp": "cpp",
    "hxx": "cpp",
    "h++": "cpp",
    "ipp": "cpp",
    "inl": "cpp",
    "tpp": "cpp",
    "cs": "csharp",
    "csx": "csharp",
    "rb": "ruby",
    "rake": "ruby",
    "gemspec": "ruby",
    "ru": "ruby",
    "php": "php",
    "phtml": "php",
    "php5": "php",
    "inc": "php",
    "sh": "bash",
    "bash": "bash",
    "ksh": "bash",
    "zsh": "bash",
    "bats": "bash",
    "ebuild": "bash",
    "md": "markdown",
    "markdown": "markdown",
    "mdx": "markdown",
    "mdown": "markdown",
    "rst": "rst",
}
_BY_NAME = {
    "rakefile": "ruby",
    "gemfile": "ruby",
    "podfile": "ruby",
    "vagrantfile": "ruby",
    "brewfile": "ruby",
    "pkgbuild": "bash",
    ".bashrc": "bash",
    ".bash_profile": "bash",
    ".profile": "bash",
    ".zshrc": "bash",
    "sconstruct": "python",
    "sconscript": "python",
    "wscript": "python",
}
_BY_PROGRAM = (
    (re.compile(rb"^(?:python|pypy)[0-9.]*$"), "python"),
    (re.compile(rb"^(?:node|nodejs|bun)$"), "javascript"),
    (re.compile(rb"^(?:deno|tsx|ts-node)$"), "typescript"),
    (re.compile(rb"^(?:ba|da|k|z|a)?sh$"), "bash"),
    (re.compile(rb"^j?ruby[0-9.]*$"), "ruby"),
    (re.compile(rb"^php[0-9.]*$"), "php"),
)
_SHEBANG = re.compile(rb"#![ \t]*(\S+)(?:[ \t]+(?:-\S+[ \t]+)*(\S+))?")
_CPP = re.compile(rb"^[ \t]*(?:class\s+\w|namespace\b|template\s*<|public:|private:)|\bstd::", re.M)


def language_of(path: str, head: bytes) -> str | None:
    """The language of a file by its path and its first `HEAD` bytes.

    One of the languages of `parsing`, `markdown`, `rst`, or `text` for all other text; None for
    what is no text (a NUL in the head).
    """
    if b"\0" in head[:HEAD]:
        return None
    name = path.rpartition("/")[2].lower()
    stem, dot, suffix = name.rpartition(".")
    language = _BY_NAME.get(name) or (_BY_SUFFIX.get(suffix) if dot and stem else None)
    if language is None:
        return _by_shebang(head) or "text"
    if suffix == "h" and _CPP.search(head):
        return "cpp"
    if suffix == "inc" and not head.lstrip().startswith(b"<?"):
        return "text"
    return language


def is_minified(text: str) -> bool:
    """Whether a line is longer than `LONGEST_LINE` characters: no file that people read."""
    # From line end to line end as far as lines may be apart: most of a text is never looked at.
    start, last = 0, len(text) - LONGEST_LINE
    while start < last:
        end = text.rfind("\n", start, start + LONGEST_LINE + 1)
        if end < 0:
            return True
        start = end + 1
    return False


def _by_shebang(head: bytes) -> str | None:
    if head.startswith(b"<?php"):
        return "php"
    found = _SHEBANG.match(head.removeprefix(b"\xef\xbb\xbf"))
    if found is None:
        return None
    program = found[1].rpartition(b"/")[2]
    if program == b"env":
        program = (found[2] or b"").rpartition(b"/")[2]
    for pattern, language in _BY_PROGRAM:
        if pattern.match(program):
            return language
    return None
