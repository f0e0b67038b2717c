"""Identities that others have published, from their own files where these are at hand.

`FABRICD_OPSLE_FIXTURES` names the folder; by default it is sought beside the checkout.
"""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path

import pytest

from fabricd.core.doubles import read_doubles
from fabricd.core.identity import canonical_line
from fabricd.core.value.receipt import receipt_identity, validate_receipt
from fabricd.core.value.record import record_identity
from fabricd.core.value.summary import summarize_record
from tests.harness import ROOT

FOLDER = Path(
    os.environ.get("FABRICD_OPSLE_FIXTURES")
    or ROOT.parent / "shared" / "vectors" / "opsle-fixtures"
)
DOGFOOD = FOLDER / "research" / "program" / "evidence" / "prompt-005"

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the public files are not here")


@pytest.mark.parametrize(
    ("name", "published"),
    [
        ("context", "cd4f4108417c14b9de8adeab07c60e1125d583009d74952f5d4960d4663ff964"),
        ("decision", "b095f79d14cbda0e398f8f6ab896c7c8fa7f79cef94e69884f66f5c4f72c116f"),
    ],
)
def test_receipts(name: str, published: str) -> None:
    receipt = read_doubles((DOGFOOD / f"{name}-value-receipt.json").read_bytes())
    assert receipt_identity(receipt) == f"sha256:{published}"


def test_record_and_summary() -> None:
    record = read_doubles((DOGFOOD / "run-record.json").read_bytes())
    assert record_identity(record) == (
        "sha256:b00dc8c2bff61be4ea3f8d47ee9cf5ba9495cd73f96b6936073dd2909af7d586"
    )
    summary = summarize_record(record)
    assert summary["summary_identity"] == (
        "sha256:1c2e702f3a191ddaf0679db1cbe9d00c5eceee697e3103db5622346cd6fef08c"
    )
    assert summary == json.loads((DOGFOOD / "value-summary.json").read_bytes())


def test_the_other_public_receipt() -> None:
    (path,) = (FOLDER / "gearbox").rglob("value-receipt.json")
    data = path.read_bytes()
    assert sha256(data).hexdigest() == (
        "114cf24a4b3cf256c545fe477393bce49c22fef92475934c8230499b7da57bed"
    )
    assert validate_receipt(read_doubles(data)) == []
    assert canonical_line(read_doubles(data))
