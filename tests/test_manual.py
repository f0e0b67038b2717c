"""The manual page says what the commands say, and reads well where a page can be shown."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import click
import pytest
from fixtures import roff
from fixtures.manual import manual

import fabricd
from fabricd.daemon.cli.root import cli, grouped
from fabricd.daemon.settings.keys import KEYS, PLACES

PAGE = Path(__file__).parents[1] / "docs" / "fabricd.1"


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of today's commands as a reader sees it, without emphasis and with plain spaces."""
    if shutil.which("groff") is None:
        pytest.skip("there is no groff")
    page = tmp_path_factory.mktemp("man") / "fabricd.1"
    page.write_text(manual(), encoding="ascii")
    done = subprocess.run(
        ["groff", "-man", "-Tascii", "-P-cbou", "-ww", "-rLL=80n", str(page)],
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
    )
    assert done.stderr == ""
    return " ".join(done.stdout.split())


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="ascii") == manual(), "run make docs"


def test_the_page_changes_only_where_a_command_does() -> None:
    page = manual()
    assert fabricd.__version__ not in page
    assert not re.search(r"\b20[0-9]{2}\b", page)
    assert page == manual()


def test_every_line_is_one_that_roff_prints_or_knows() -> None:
    known = {"TH", "SH", "SS", "TP", "PP", "br", "nh", "ad", "nf", "fi"}
    for line in manual().splitlines():
        assert line
        assert not line.startswith("'")
        if line.startswith("."):
            assert line[1:].split()[0] in known, line


def test_every_command_and_every_option_is_shown(shown: str) -> None:
    context = click.Context(cli, info_name="fabricd", **cli.context_settings)
    for name in (name for names in grouped().values() for name in names):
        assert f"fabricd {name} " in shown
        _is_shown(shown, context, cli.get_command(context, name), name)


def _is_shown(shown: str, parent: click.Context, found: click.Command | None, name: str) -> None:
    assert found is not None and not found.hidden
    context = click.Context(found, info_name=name, parent=parent)
    assert context.command_path in shown
    for parameter in found.params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            for option in (*parameter.opts, *parameter.secondary_opts):
                assert option in shown
    if isinstance(found, click.Group):
        for inner in found.list_commands(context):
            _is_shown(shown, context, found.get_command(context, inner), inner)


def test_every_key_and_every_variable_is_shown(shown: str) -> None:
    for key in KEYS:
        assert key.dotted in shown and key.variable in shown
    for name in PLACES:
        assert name in shown


def test_groups_within_groups_are_shown() -> None:
    from fixtures.manual import commands

    outer, inner = click.Group("outer"), click.Group("inner", help="Inner things.")
    inner.add_command(click.Command("leaf", help="One thing.", params=[click.Option(["--x"])]))
    inner.add_command(click.Command("hidden", hidden=True))
    outer.add_command(inner)
    root = click.Context(click.Group("root", commands={"outer": outer}), info_name="root")
    lines = list(commands(root, ["outer"]))
    headings = [line for line in lines if line.startswith(".SS")]
    assert headings == [
        '.SS "root outer COMMAND"',
        '.SS "root outer inner COMMAND"',
        '.SS "root outer inner leaf [OPTIONS]"',
    ]
    assert r"\fB\-\-x\fR \fITEXT\fR" in lines


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (".TH is no macro here", r"\&.TH is no macro here"),
        ("'tis a quote", r"\(aqtis a quote"),
        (r"a\nb", r"a\enb"),
        ("--json and `--json`", r"\-\-json and \fB\-\-json\fR"),
        ("`.config` first", r"\fB.config\fR first"),
        ("see `x`.", r"see \fBx\fR."),
        ("a → b", r"a \[u2192] b"),
    ],
)
def test_nothing_in_a_text_is_obeyed(text: str, line: str) -> None:
    assert roff.words(text) == line


def test_paragraphs_are_kept_and_marked_ones_keep_their_lines() -> None:
    text = "One\nline.\n\n\b\nkept  as\nit is\n\nLast.\n\fcut"
    assert list(roff.paragraphs(text)) == [
        "One line.",
        ".PP",
        ".nf",
        "kept  as",
        "it is",
        ".fi",
        ".PP",
        "Last.",
    ]


def test_headings_are_quoted() -> None:
    assert roff.subsection('say "x"') == r'.SS "say \(dqx\(dq"'
