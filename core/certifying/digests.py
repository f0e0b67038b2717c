"""What must come out the same in any process, under any locale and hash seed."""

from __future__ import annotations

import json
from hashlib import sha256

from msgspec import to_builtins

from fabricd.core.certifying.compiling import compiled
from fabricd.core.certifying.examples import (
    ALPHA,
    BETA,
    COMPILE_DIGEST,
    RATE,
    REPORT_TEXT,
    SEARCH,
    SEARCH_SCHEMA,
    SURFACE,
    SURFACE_DIGEST,
    artifact_json,
    written,
)
from fabricd.core.certifying.invariance import DOCUMENTS
from fabricd.core.certifying.laws import Laws
from fabricd.core.certifying.lines import recorded_in
from fabricd.core.certifying.measuring import measured
from fabricd.core.certifying.pooling import messy_pool
from fabricd.core.compiling.verdict import trial_text
from fabricd.core.pool.file import pool_bytes
from fabricd.core.steps import finish


def _hash(data: str | bytes) -> str:
    return sha256(data.encode() if isinstance(data, str) else data).hexdigest()


# Those that are known without running anything.
KNOWN = {
    "surface": SURFACE_DIGEST,
    "artifact": _hash(written(artifact_json(RATE, COMPILE_DIGEST))),
    "report": _hash(REPORT_TEXT),
    **{words: _hash(canonical) for words, _, canonical in DOCUMENTS},
    "repair": _hash('{"query": "x", "order": "bestMatch", "maxResults": 5}'),
}


def digests(laws: Laws) -> dict[str, str]:
    """Digests of one of each kind of result, by name."""
    surface = laws.surface(SURFACE)
    artifact = compiled(laws, ALPHA, BETA).artifact
    normalizer = laws.normalizer(SEARCH, SEARCH_SCHEMA, None)
    call = {"query": "x", "MAX_RESULTS": "5", "order": "best-match", "note": None}
    applied = normalizer.apply(call)
    trial = finish(laws.trial(recorded_in(laws, ALPHA, BETA), surface, None))
    return {
        "surface": surface.digest,
        "artifact": "" if artifact is None else _hash(laws.artifact_bytes(artifact)),
        "report": _hash(laws.report_text(measured(laws, ALPHA, BETA))),
        **{words: laws.digest(document) for words, document, _ in DOCUMENTS},
        "repair": _hash(json.dumps(dict(applied.args))),
        "witness": _hash(json.dumps(to_builtins(normalizer.witness(call, applied)))),
        "trial": _hash(trial_text(trial)),
        "pool": _hash(pool_bytes(messy_pool(laws))),
    }
