"""What a receipt quotes is shown, and is never markup."""

from __future__ import annotations

import re

from hypothesis import given as law
from hypothesis import strategies as st
from msgspec import structs

from fabricd.core.context.markdown import markdown, quoted
from tests.core.context.receipting import given


@law(st.text(st.characters(exclude_categories=()), max_size=40))
def test_a_quotation_is_one_code_span(text: str) -> None:
    shown = quoted(text)
    assert "\n" not in shown and shown.isprintable()
    if shown == "(empty)":
        return
    found = re.match(r"`+", shown)
    assert found is not None
    fence = found[0]
    runs = re.findall(r"`+", shown)
    # Opened and closed by runs of one length, and no run inside is that long.
    assert runs[0] == runs[-1] == fence and fence not in runs[1:-1] and len(runs) >= 2


def test_a_receipt_in_words() -> None:
    receipt = given(omitted=30).receipt
    evil = "](http://evil) <script>`` # heading\n# another"
    shown = markdown(structs.replace(receipt, query=evil, warnings=(evil,)))
    assert shown.count("\n# ") == 0 and shown.startswith("# Context receipt cr_")
    assert "``` ](http" not in shown
    assert f"```{evil.splitlines()[0]}\\n# another```" in shown
    assert (
        "- \\#1 `src/client.py:10-19` `function send_1`, 7 tokens (`body` 1,200, `path` 3)" in shown
    )
    assert "  - text addressed to an assistant: `override:12`" in shown
    assert "- and 10 more of the best in the JSON" in shown
    assert shown.endswith("are not detected.\n")
