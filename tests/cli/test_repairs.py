from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from fabricd.core.repairs import ActionAlias, KeyAlias, catalog_digest, row_value
from fabricd.core.steps import finish
from fabricd.core.surface import surface_steps
from fabricd.store.homes import Homes, find
from fabricd.store.repairs import save
from tests.cli.running import Cli, action, surface_of
from tests.oracle import naive

KEY = KeyAlias("mcp.x.search", "maxresults", "maxResults")
ACTION = ActionAlias("mcp.x", "createIssue", "create_issue")
GONE = KeyAlias("mcp.gone.y", "a", "b")
SURFACE = surface_of(action("mcp.x.search"), action("mcp.x.create_issue"))
CATALOG = catalog_digest(finish(surface_steps(SURFACE)))


@pytest.fixture
def homes(surroundings: None) -> Homes:
    return find(os.environ)


@pytest.fixture
def declared(homes: Homes) -> Path:
    homes.entropy.mkdir(parents=True)
    homes.surface.write_bytes(SURFACE)
    return homes.surface


def table(homes: Homes, *rows: Any, **more: Any) -> Path:
    values = [row if isinstance(row, dict) else row_value(row) for row in rows]
    value = {"version": 1, "catalogDigest": "pi's", "repairs": values, **more}
    homes.repairs.parent.mkdir(parents=True, exist_ok=True)
    homes.repairs.write_text(json.dumps(value))
    return homes.repairs


def test_without_a_table_it_says_so(cli: Cli, homes: Homes) -> None:
    found = cli("repairs")
    assert (found.code, found.err) == (0, "")
    assert found.out.decode() == f"no repairs have been learned: {homes.repairs} does not exist\n"
    assert cli("repairs", "--json").json == {"state": "missing", "path": str(homes.repairs)}
    assert not homes.home.exists()


def test_rows_are_sentences_and_say_whether_they_fit(
    cli: Cli, homes: Homes, declared: Path
) -> None:
    save(homes, CATALOG, [KEY, ACTION, GONE], 7)
    found = cli("repairs")
    assert (found.code, found.err) == (0, "")
    assert found.out.decode() == (
        "3 rows, 1 of them does not fit the surface\n"
        f"catalog {CATALOG}, that of the surface\n"
        "\n"
        '  mcp.x.search: argument "maxresults" means "maxResults"\n'
        '  provider mcp.x: action "createIssue" means "create_issue"\n'
        '  mcp.gone.y: argument "a" means "b"; does not fit: the action is not on the surface\n'
    )


def test_json_says_the_same(cli: Cli, homes: Homes, declared: Path) -> None:
    save(homes, CATALOG, [KEY], 7)
    table(homes, KEY, ACTION, GONE, {"kind": "later"}, createdAt="then")
    found = cli("repairs", "--json")
    assert (found.code, found.err) == (0, "")
    fits = {"fits": True, "misfit": None}
    assert found.json == {
        "state": "loaded",
        "path": str(homes.repairs),
        "catalogDigest": "pi's",
        "surfaceCatalogDigest": CATALOG,
        "rows": [
            {**row_value(KEY), **fits, "learnedHere": True},
            {**row_value(ACTION), **fits, "learnedHere": False},
            {
                **row_value(GONE),
                "fits": False,
                "misfit": "the action is not on the surface",
                "learnedHere": False,
            },
        ],
        "misfits": 1,
        "unknownKinds": 1,
        "createdAt": "then",
        "updatedAt": None,
    }
    assert "and 1 row of a kind unknown here" in cli("repairs").out.decode()


def test_without_a_surface_nobody_can_tell(cli: Cli, homes: Homes) -> None:
    table(homes, KEY)
    words = cli("repairs")
    assert words.code == 0 and "without a surface nobody can tell" in words.out.decode()
    found = cli("repairs", "--json").json
    assert found["surfaceCatalogDigest"] is None
    assert [row["fits"] for row in found["rows"]] == [None]


def test_a_damaged_surface_is_left_out_aloud(cli: Cli, homes: Homes, declared: Path) -> None:
    table(homes, KEY)
    declared.write_bytes(b"{")
    found = cli("repairs")
    assert found.code == 0 and b"maxresults" in found.out
    found.says("the surface is damaged and left out")


def test_another_surface_can_be_named(cli: Cli, homes: Homes, declared: Path, place: Path) -> None:
    table(homes, KEY, GONE)
    other = place / "other.json"
    other.write_bytes(surface_of(action("mcp.gone.y", {"properties": {"b": {}}})))
    rows = cli("repairs", "--json", "--surface", other).json["rows"]
    assert [row["fits"] for row in rows] == [False, True]
    cli("repairs", "--surface", place / "none.json").complains(2, "none.json does not exist")


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"version":2}'])
def test_damage_is_told_with_its_cure(cli: Cli, homes: Homes, damage: bytes) -> None:
    table(homes).write_bytes(damage)
    cli("repairs").complains(1, str(homes.repairs), "is damaged", "move", "aside")
    found = cli("repairs", "--json")
    assert found.code == 1
    assert found.json.keys() == {"state", "path", "reason", "cure"}
    assert found.json["state"] == "damaged"
    assert homes.repairs.read_bytes() == damage


def test_a_damaged_memory_is_told_beside_the_table(cli: Cli, homes: Homes) -> None:
    table(homes, KEY)
    homes.repairs_learned.write_bytes(b"{")
    for option in ([], ["--json"]):
        found = cli("repairs", *option)
        assert found.code == 1 and b"maxresults" in found.out
        found.says("learned.json is damaged", "move")


def test_what_a_table_quotes_cannot_steer_a_terminal(
    cli: Cli, homes: Homes, declared: Path
) -> None:
    evil = "\x1b[31m\u202e\ud800\n"
    rows = [KeyAlias(f"r{evil}x", f"f{evil}x", f"t{evil}x")]
    value = table(homes, *rows, ActionAlias(f"p{evil}x", f"f{evil}x", "t")).read_text()
    homes.repairs.write_text(value.replace("pi's", "c\\u001b"))
    found = cli("repairs")
    assert found.code == 0
    assert all(char.isprintable() or char == "\n" for char in found.out.decode())
    assert len(found.out.splitlines()) == 5
    assert cli("repairs", "--json").json["rows"][0]["ref"] == f"r{evil}x"


def test_measuring_counts_the_rows_of_a_named_table(
    cli: Cli, homes: Homes, sessions: Path, surface: Path
) -> None:
    rows = [
        KeyAlias("pi.read", "OFFSET", "offset"),
        ActionAlias("pi", "READ", "read"),
        ActionAlias("mcp.github", "createIssue", "create_issue"),
        GONE,
    ]
    path = table(homes, *rows, {"kind": "later"})
    values = [row_value(row) for row in rows]
    for on in (None, surface):
        options = [] if on is None else ["--surface", on]
        found = cli("measure", "--sessions", sessions, *options, "--repairs", path, "--json")
        assert (found.code, found.err) == (0, "")
        assert found.json == naive.measure(sessions, on, values)
    assert found.json["lexiconRows"] == 4
    counts = {row["ref"]: row["lexiconRows"] for row in found.json["refs"]}
    assert counts["pi.read"] == 2 and counts["mcp.github.create_issue"] == 1
    words = cli("measure", "--sessions", sessions, "--repairs", path)
    assert words.out.decode().endswith("rows: 4, for actions that were called: 3\n")


def test_a_table_that_was_named_must_be_one(cli: Cli, sessions: Path, place: Path) -> None:
    measure = ("measure", "--sessions", sessions, "--repairs")
    cli(*measure, place / "none.json").complains(2, "none.json does not exist")
    (place / "bad.json").write_bytes(b'{"version":1,"catalogDigest":"c","repairs":[5]}')
    cli(*measure, place / "bad.json").complains(2, "bad.json is no repairs table", "row 1")
