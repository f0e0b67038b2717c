"""A receipt that leaves the machine: exported here, and checked elsewhere by its file alone."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from subprocess import run
from typing import Any

import pytest

from fabricd.core.context.receipt import receipt_id
from fabricd.core.context.verifying import exported
from tests.cli.running import Cli, process
from tests.core.context.receipting import given
from tests.harness import ROOT, daemon

needs_engine = pytest.mark.skipif(
    importlib.util.find_spec("tree_sitter") is None, reason="the extra is not installed"
)
ANSWER = given()
NAME = receipt_id(ANSWER.receipt)
EXPORT = exported(ANSWER.receipt, [])
# What only the engine needs.
HEAVY = ("numpy", "tree_sitter", "rs_bpe", "sqlite3", "fabricd.daemon.context.engine")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    folder.mkdir()
    (folder / "prices.py").write_text("def discounted(cents):\n    return cents\n\n\n")
    return folder


@pytest.fixture
def given_file(place: Path) -> Path:
    path = place / "receipt.json"
    path.write_bytes(EXPORT)
    return path


@pytest.fixture(autouse=True)
def is_offline(request: pytest.FixtureRequest, place: Path) -> Iterator[None]:
    """Where nothing is asked of an engine, nothing is made in the home."""
    yield
    if "tree" not in request.fixturenames:
        assert not (place / "home").exists()


def selected(cli: Cli, tree: Path) -> str:
    found = cli("context", "select", "--query", "discounted", "--root", tree, "--json")
    return str(found.json["receipt"])


@needs_engine
def test_an_export_is_verified_by_another_process_with_another_home(
    cli: Cli, tree: Path, place: Path
) -> None:
    receipt = selected(cli, tree)
    assert selected(cli, tree) == receipt
    target = place / "mine.json"
    found = cli("context", "receipt", receipt, "--export", target, "--root", tree)
    assert (found.code, found.out) == (0, b"")
    assert found.err.endswith(f"fabricd: exported {receipt} to {target}\n")
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    shutil.rmtree(place / "home")
    home = place / "another"
    checked = process("context", "verify", target, FABRICD_HOME=str(home))
    assert (checked.code, checked.err) == (0, "")
    text = checked.out.decode()
    assert text.startswith(f"{receipt}: as it was exported\n") and "unsigned" in text
    assert "2 deliveries by digest and order" in text and "texts" in text
    assert not home.exists()


@needs_engine
def test_to_standard_output_it_is_the_same_document(cli: Cli, tree: Path, place: Path) -> None:
    receipt, root = selected(cli, tree), ("--root", tree)
    whole = cli("context", "receipt", f"{receipt}#1", "--export", *root).out
    assert json.loads(whole)["id"] == receipt
    assert cli("context", "receipt", *root, "--export", receipt).out == whole
    as_json = cli("context", "receipt", receipt, "--export", "--json", *root).json
    assert as_json == {"text": whole.decode(), "id": receipt, "file": None}
    target = place / "mine.json"
    as_json = cli("context", "receipt", receipt, "--export", target, "--json", *root).json
    assert as_json["file"] == str(target) and target.read_bytes() == whole
    assert cli("context", "verify", "-", stdin=whole).code == 0


@needs_engine
def test_a_daemon_exports_and_is_not_asked_to_verify(tree: Path) -> None:
    folder = Path(tempfile.mkdtemp(prefix="fd-", dir="/tmp"))
    try:
        with daemon(folder) as running:
            running.start()
            arguments = ("context", "select", "--query", "discounted", "--root", str(tree))
            receipt = json.loads(running.run(*arguments, "--json").stdout)["receipt"]
            target = folder / "receipt.json"
            arguments = ("context", "receipt", receipt, "--root", str(tree))
            done = running.run(*arguments, "--export", str(target))
            assert (done.returncode, done.stderr.count("\n")) == (0, 1)
        checked = running.run("context", "verify", str(target))
        assert (checked.returncode, checked.stderr) == (0, "")
        assert "1 delivery by digest" in checked.stdout
        assert running.status()["state"] == "NoDaemon"
    finally:
        shutil.rmtree(folder)


@needs_engine
def test_nothing_of_the_daemons_is_replaced(cli: Cli, tree: Path, place: Path) -> None:
    receipt = selected(cli, tree)
    state = place / "home" / "state"
    (place / "link").symlink_to(state)
    for target in (
        state / "context" / "receipts.db",
        place / "link" / "new.json",
        place / "home" / "entropy" / "compiled.json",
    ):
        found = cli("context", "receipt", receipt, "--export", target, "--root", tree)
        found.complains(2, "choose another path")
    found = cli("context", "receipt", receipt, "--export", place / "no" / "e", "--root", tree)
    assert (found.code, "there is no directory" in found.err) == (1, True)
    gone = place / "gone.json"
    found = cli("context", "receipt", "cr_" + "0" * 16, "--export", gone, "--root", tree)
    assert (found.code, gone.exists()) == (1, False)


@needs_engine
def test_what_could_not_be_verified_is_not_exported(
    cli: Cli, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fabricd.daemon.cli.context import export as context_export

    receipt = selected(cli, tree)
    monkeypatch.setattr(context_export, "LARGEST_EXPORT", 1000)
    found = cli("context", "receipt", receipt, "--export", "--root", tree)
    assert (found.code, found.out, "given too often" in found.err) == (1, b"", True)


@needs_engine
def test_a_receipt_whose_row_was_changed_is_not_exported(cli: Cli, tree: Path, place: Path) -> None:
    import sqlite3

    receipt = selected(cli, tree)
    database = sqlite3.connect(place / "home" / "state" / "context" / "receipts.db")
    with database:
        database.execute("UPDATE chain SET refreshed = 77")
    database.close()
    found = cli("context", "receipt", receipt, "--export", "--root", tree)
    assert (found.code, found.out) == (1, b"")
    assert "row 1 does not match its digest" in found.err


def test_a_changed_byte_is_found_and_told(cli: Cli, given_file: Path) -> None:
    assert cli("context", "verify", given_file).code == 0
    given_file.write_bytes(EXPORT.replace(b'"budget":8000', b'"budget":8001'))
    found = cli("context", "verify", given_file)
    assert (found.code, found.err) == (1, "")
    assert found.out.startswith(f"{NAME}: 1 change\n  receipt: its content has".encode())
    found = cli("context", "verify", given_file, "--json")
    assert found.code == 1 and found.json["verified"] is False
    assert [each["place"] for each in found.json["findings"]] == ["receipt"]


def test_as_json(cli: Cli, given_file: Path) -> None:
    value: dict[str, Any] = cli("context", "verify", given_file, "--json").json
    assert list(value) == [
        "text", "verified", "file", "receipt", "findings", "deliveries", "notes",
    ]  # fmt: skip
    assert (value["verified"], value["receipt"], value["file"]) == (True, NAME, str(given_file))


def test_the_engine_is_not_needed(given_file: Path) -> None:
    code = (
        "import sys; from fabricd.daemon.cli.root import run; code = run(sys.argv[1:]);"
        f"sys.exit(code or ' '.join(name for name in {HEAVY!r} if name in sys.modules))"
    )
    done = run(
        [sys.executable, "-c", code, "context", "verify", str(given_file)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        timeout=20,
        check=False,
    )
    assert done.stderr.strip() == b""
    assert done.stdout.startswith(NAME.encode())


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "it is empty"),
        (b"hello", "it is not JSON: invalid character (byte 0)"),
        (EXPORT[:-40], "it is not JSON: Input data was truncated"),
        (b"\xff\xfe{}", "it is not JSON"),
        (b"[]", "no JSON object with `id`, `receipt` and `deliveries`"),
        (b'{"id": 7, "receipt": {}, "deliveries": []}', "no JSON object with"),
        (b"[" * 1_000_000 + b"]" * 1_000_000, "nested more than 16 levels"),
        (b'{"id":' * 100_000 + b"1" + b"}" * 100_000, "nested more than 16 levels"),
    ],
    ids=["empty", "words", "cut", "bytes", "array", "shape", "deep", "deep objects"],
)
def test_what_is_no_export(cli: Cli, given_file: Path, data: bytes, words: str) -> None:
    given_file.write_bytes(data)
    cli("context", "verify", given_file).complains(1, "is no exported receipt", words)


def test_a_huge_file_is_not_read_to_its_end(cli: Cli, given_file: Path) -> None:
    os.truncate(given_file, 1 << 40)
    cli("context", "verify", given_file).complains(2, "larger than 16 MiB")


@pytest.mark.timeout(15)
def test_what_is_no_file(cli: Cli, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    cli("context", "verify", "cr_12").complains(2, "no file 'cr_12'", "cr_0123456789abcdef")
    cli("context", "verify", place).complains(2, "it is a directory")
    cli("context", "verify", "/dev/zero").complains(2, "not a regular file")
    os.mkfifo("fifo")
    cli("context", "verify", "fifo").complains(2, "fifo")
    os.symlink("loop", "loop")
    cli("context", "verify", "loop").complains(2, "loop cannot be used")


def test_a_file_called_like_an_id_is_named_by_its_path(
    cli: Cli, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    Path(NAME).write_bytes(EXPORT)
    assert cli("context", "verify", f"./{NAME}").code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("receipt",), "say which receipt"),
        (("receipt", "--export"), "say which receipt to export"),
        (("receipt", "--export", "x.json"), "say which receipt to export"),
        (("receipt", NAME, "--export", NAME), f"./{NAME}"),
        (("receipt", NAME, "--export", "--markdown"), "exclude"),
        (("verify", "x.json", "--root", "."), "--root belongs to an id"),
    ],
)
def test_usage(cli: Cli, arguments: tuple[str, ...], words: str) -> None:
    cli("context", *arguments).complains(2, words)
