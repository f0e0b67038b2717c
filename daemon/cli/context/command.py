"""`fabricd context`: context for a query within a budget, and what is known of each answer."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from fabricd.core.context.asking import BUDGET
from fabricd.core.plain import printable
from fabricd.daemon.cli.completing import files
from fabricd.daemon.cli.talk import FAILED, USAGE, Complaint, env, out, say

if TYPE_CHECKING:
    from datetime import datetime

    from fabricd.core.context.asking import Refused

STALE = 4
_TOKENIZERS = ("o200k", "cl100k", "claude")
_Function = TypeVar("_Function", bound=Callable[..., Any])


def _root_option(function: _Function) -> _Function:
    return click.option(
        "--root",
        type=click.Path(file_okay=False),
        metavar="DIR",
        help="A directory of the tree in question; the current one where it is left out.",
    )(function)


def _budget_option(function: _Function) -> _Function:
    return click.option(
        "--budget",
        type=int,
        default=BUDGET,
        show_default=True,
        metavar="N",
        help="The most tokens that the answer may have.",
    )(function)


def _tokenizer_option(function: _Function) -> _Function:
    return click.option(
        "--tokenizer",
        type=click.Choice(_TOKENIZERS),
        default="o200k",
        show_default=True,
        help="What tokens are counted by.",
    )(function)


def _json_option(function: _Function) -> _Function:
    return click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")(
        function
    )


@click.group("context", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Give an agent the parts of a tree that a query is about, within a budget of tokens.

    The answer alone goes to standard output. Exits 1 where nothing is relevant, or a handle or a
    receipt is gone, unknown, forbidden or was changed; 2 for usage, and where the engine is not
    installed; 4 where another process holds the index and does not answer.
    """


@command.command("index")
@_root_option
@_json_option
def index(root: str | None, as_json: bool) -> int:
    """Bring the index of a tree up to date.

    Each query does so by itself; done ahead, the first one does not have to wait.
    """
    from fabricd.daemon.cli.context.index import indexed

    return _told(lambda: indexed(_place(root)), as_json)


@command.command("select")
@click.option("--query", required=True, metavar="WORDS", help="What the answer is to be about.")
@_budget_option
@_tokenizer_option
@click.option(
    "--path",
    "paths",
    multiple=True,
    metavar="PREFIX",
    help="Look only below this path of the tree; may be given more than once.",
)
@_root_option
@_json_option
def select(
    query: str,
    budget: int,
    tokenizer: str,
    paths: tuple[str, ...],
    root: str | None,
    as_json: bool,
) -> int:
    """Print what a query is about.

    Definitions are whole where the budget allows, else skeletons or references.
    """
    params = {
        "query": query,
        "budget": budget,
        "tokenizer": tokenizer,
        "paths": list(paths),
        "root": _place(root),
    }
    return _asked("select", params, as_json)


@command.command("show")
@click.argument("what", metavar="HANDLE|PATH|SYMBOL")
@_budget_option
@_tokenizer_option
@_root_option
@_json_option
def show(what: str, budget: int, tokenizer: str, root: str | None, as_json: bool) -> int:
    """Print what is on disk now.

    Of a handle, a path, path:a-b, or a symbol.
    """
    params = {"what": what, "budget": budget, "tokenizer": tokenizer, "root": _place(root)}
    return _asked("show", params, as_json)


@command.command("recover")
@click.argument("handle", metavar="HANDLE")
@_budget_option
@_root_option
@_json_option
def recover(handle: str, budget: int, root: str | None, as_json: bool) -> int:
    """Print an item in full as it was delivered."""
    params = {"handle": handle, "budget": budget, "root": _place(root)}
    return _asked("recover", params, as_json)


@command.command("receipt")
@click.argument("receipt", metavar="ID", required=False)
@click.option("--markdown", "as_markdown", is_flag=True, help="For people; the default.")
@click.option(
    "--export",
    "target",
    is_flag=False,
    flag_value="-",
    metavar="[FILE]",
    shell_complete=files,
    help="Write it as one JSON document, for others to check with `verify`: to FILE, or to "
    "standard output.",
)
@_root_option
@_json_option
def receipt(
    receipt: str | None, as_markdown: bool, target: str | None, root: str | None, as_json: bool
) -> int:
    """Print the receipt of an answer.

    It tells what was given, what was left out, and why.
    """
    if as_markdown and as_json:
        raise Complaint("--markdown and --json exclude each other")
    if target is not None:
        from fabricd.daemon.cli.context.export import export

        if as_markdown:
            raise Complaint("--markdown and --export exclude each other: an export is JSON")
        return export(receipt, target, _place(root), as_json)
    if receipt is None:
        raise Complaint("say which receipt: its id looks like cr_0123456789abcdef")
    return _asked("receipt", {"receipt": receipt, "root": _place(root)}, as_json)


@command.command("explain")
@click.argument("what", metavar="WHAT")
@click.option("--receipt", required=True, metavar="ID", help="The answer in question.")
@click.option(
    "--why-omitted",
    is_flag=True,
    help="Exit 1 where it was not left out.",
)
@_root_option
@_json_option
def explain(what: str, receipt: str, why_omitted: bool, root: str | None, as_json: bool) -> int:
    """Say why something was selected or left out.

    WHAT is a handle, a path, path:a-b, or a symbol.
    """
    from fabricd.daemon.cli.context.words import was_selected

    params = {"what": what, "receipt": receipt, "root": _place(root)}
    found = answered("explain", params)
    printed(found, as_json)
    if why_omitted and was_selected(found):
        say(f"{what} was not left out")
        return FAILED
    return 0


@command.command("verify")
@click.argument("what", metavar="ID|FILE", shell_complete=files)
@_root_option
@_json_option
def verify(what: str, root: str | None, as_json: bool) -> int:
    """Check a receipt and its chain, or an exported receipt.

    What is not written like an id (cr_ and 16 hex digits) is the path of an export, or `-` for
    standard input: no daemon is asked and nothing but that file is read. Exits 1 where something
    was changed or a file is no export, 2 where it cannot be read.
    """
    from fabricd.daemon.cli.context.export import names_receipt, verified_file
    from fabricd.daemon.cli.context.words import is_intact

    if names_receipt(what):
        found = answered("receipt", {"receipt": what, "verify": True, "root": _place(root)})
    elif root is not None:
        raise Complaint("--root belongs to an id: an export is checked by itself")
    else:
        found = verified_file(what)
    printed(found, as_json)
    return 0 if is_intact(found) else FAILED


@command.command("replay")
@click.argument("receipt", metavar="ID")
@_root_option
@_json_option
def replay(receipt: str, root: str | None, as_json: bool) -> int:
    """Print an answer once more, byte for byte."""
    return _asked("replay", {"receipt": receipt, "root": _place(root)}, as_json)


@command.command("stats")
@_root_option
@_json_option
def stats(root: str | None, as_json: bool) -> int:
    """Tell what is indexed and what was given.

    Of all trees where no --root is named.
    """
    return _asked("stats", {"root": None if root is None else _place(root)}, as_json)


def _before(ctx: click.Context, param: click.Parameter, value: str | None) -> datetime | None:
    from fabricd.daemon.cli.moments import since

    return since(ctx, param, value)


@command.command("forget")
@_root_option
@click.option(
    "--before",
    metavar="WHEN",
    callback=_before,
    help="Only receipts older than this: 7d, 12h, 2w, a date, or a time.",
)
@click.option("--all", "everything", is_flag=True, help="The index and receipts of all trees.")
@_json_option
def forget(root: str | None, before: datetime | None, everything: bool, as_json: bool) -> int:
    """Delete what is kept.

    Of a tree, of receipts before a moment, or all.
    """
    if everything and (root is not None or before is not None):
        raise Complaint("--all excludes --root and --before")
    if not everything and root is None and before is None:
        raise Complaint("say what to forget: --root, --before or --all")
    params = {
        "root": None if root is None else _place(root),
        "before": None if before is None else int(before.timestamp()),
        "everything": everything,
    }
    return _asked("forget", params, as_json)


def _place(root: str | None) -> str:
    try:
        return os.path.abspath(root or os.getcwd())
    except OSError:
        raise Complaint("the current directory is gone: name one with --root") from None


def _asked(method: str, params: dict[str, Any], as_json: bool) -> int:
    return _told(lambda: answered(method, params), as_json)


def _told(answer: Callable[[], dict[str, Any]], as_json: bool) -> int:
    printed(answer(), as_json)
    return 0


def answered(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """What the engine answers.

    Raises:
        Complaint: see `complaining`.
    """
    from fabricd.daemon.context.asking import Asking

    return complaining(lambda: Asking(env(), say).ask(method, params))


def complaining(answer: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """An answer; what the engine does not do ends the command with its sentence.

    Raises:
        Complaint: with the exit code of the reason.
    """
    from fabricd.core.context.asking import Refused
    from fabricd.daemon.context.asking import Unreachable

    try:
        return answer()
    except Refused as refused:
        raise _complaint(refused) from None
    except Unreachable as error:
        raise Complaint(str(error), STALE) from None


def _complaint(refused: Refused) -> Complaint:
    match refused.reason:
        case "usage" | "not-installed":
            return Complaint(refused.message, USAGE)
        case "busy":
            return Complaint(refused.message, STALE)
        case "budget-too-small" if refused.smallest is not None:
            words = f"{refused.message} (the smallest that does: {refused.smallest})"
            return Complaint(words, FAILED)
        case _:
            return Complaint(refused.message, FAILED)


def printed(found: dict[str, Any], as_json: bool) -> None:
    """Print an answer: its text, or all of it as JSON."""
    import json

    if as_json:
        out(json.dumps(found) + "\n")
        return
    text = found.get("text")
    if not isinstance(text, str):
        out(json.dumps(found, indent=2) + "\n")
    elif sys.stdout is not None and sys.stdout.isatty():
        out(_harmless(text.removesuffix("\n")) + "\n")
    else:
        # Byte for byte what was counted.
        out(text)


def _harmless(text: str) -> str:
    """Text of files for a terminal: lines and tabs stay, other control characters are spelled."""
    lines = text.split("\n")
    return "\n".join("\t".join(map(printable, line.split("\t"))) for line in lines)
