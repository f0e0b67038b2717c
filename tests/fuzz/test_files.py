"""Durable files, configuration and surfaces: a verdict on each, whatever it holds, and no more."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.compiling.compile import plans_steps
from fabricd.core.entropy.freedom import freedom_steps
from fabricd.core.steps import finish
from fabricd.daemon.config import BadConfig, Config
from fabricd.daemon.config import load as load_config
from fabricd.daemon.tailing.checkpointer import Checkpointer
from fabricd.store import artifacts, checkpoints, pools, repairs, surfaces
from fabricd.store.durable import Damaged, Load, Loaded, Missing
from tests.daemon.bench import Bench
from tests.fuzz.hostile import Sample, bounded, few, hostile, reshaped
from tests.fuzz.seeds import DURABLE, durable, session
from tests.fuzz.seeds import surfaces as surface_seeds

LOADERS: dict[str, Callable[[Path], Load[Any]]] = {
    "compiled": artifacts.load,
    "surface": surfaces.load,
    "pool": pools.load,
    "pool_ledger": pools.load_ledger,
    "repairs": repairs.load,
    "repairs_learned": repairs.load_learned,
    "checkpoints": checkpoints.load,
}


def damaged(name: str) -> st.SearchStrategy[bytes]:
    """A durable file of this kind: damaged, of another shape, or one of another kind."""
    seed = durable()[name]
    return st.one_of(hostile([seed, *durable().values()]), shaped(name, seed))


def shaped(name: str, seed: bytes) -> st.SearchStrategy[bytes]:
    if name in ("checkpoints", "pool_ledger"):
        return reshaped(msgspec.msgpack.decode(seed), msgspec.msgpack.encode)
    return reshaped(json.loads(seed))


def kept(name: str) -> st.SearchStrategy[bytes]:
    """Mostly sound."""
    return st.one_of(st.just(durable()[name]), st.just(durable()[name]), damaged(name))


def _kept(name: str) -> Callable[[], st.SearchStrategy[bytes]]:
    # Later: seeds are made by a daemon's own parts, which takes a moment.
    return lambda: kept(name)


def odd_session() -> st.SearchStrategy[bytes]:
    trace = json.loads(session(5, 1).splitlines()[2])
    lines = st.lists(reshaped(trace), max_size=4).map(lambda lines: Sample(b"\n".join(lines)))
    return st.one_of(hostile([session()]), lines)


@pytest.mark.parametrize("name", DURABLE)
def test_a_durable_file_is_loaded_missing_or_damaged(name: str) -> None:
    seed = durable()[name]

    @few()
    @given(damaged(name))
    def check(data: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "f"
            path.write_bytes(data)
            with bounded():
                found = LOADERS[name](path)
        match found:
            case Loaded() | Missing():
                pass
            case Damaged(reason=reason):
                assert reason and "\n" not in reason

    assert isinstance(_loaded(name, seed), Loaded), "the seed itself has to be sound"
    check()


def _loaded(name: str, data: bytes) -> Load[Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "f"
        path.write_bytes(data)
        return LOADERS[name](path)


@few()
@given(
    st.one_of(
        hostile(surface_seeds()),
        *(reshaped(json.loads(seed)) for seed in surface_seeds()),
    )
)
def test_plans_follow_from_whatever_surface_can_be_read(data: bytes) -> None:
    found = _loaded("surface", data)
    if isinstance(found, Loaded):
        with bounded():
            finish(plans_steps(found.value))
            finish(freedom_steps(found.value))


CONFIG = b"""# a comment
[entropy]
compile = true
[watch]
rescan_seconds = 10.5
force_polling = false
[daemon]
grace_ms = 250
[log]
level = "info"
file = "~/x.log"
"""
_TOML = (b"[[a]]", b"a.b.c = 1\n", b'"""', b"'''", b"1979-05-27T07:32:00Z", b"inf", b"0x", b"{a=1}")


@few()
@given(st.one_of(hostile([CONFIG]), st.lists(st.sampled_from(_TOML)).map(b"\n".join)))
def test_a_configuration_is_read_or_refused_with_a_sentence(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "config.toml"
        path.write_bytes(data)
        with bounded():
            try:
                assert isinstance(load_config(path), Config)
            except BadConfig as error:
                assert str(error)


@few(0.5)
@given(
    st.fixed_dictionaries({name: st.deferred(_kept(name)) for name in DURABLE}),
    odd_session(),
)
def test_a_daemon_lives_with_whatever_lies_in_its_home(files: dict[str, bytes], log: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder))
        for name, content in files.items():
            path: Path = getattr(bench.homes, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        bench.append(session(1))
        bench.append(log, "odd.jsonl")
        with bounded():
            anyio.run(_live, bench)
        assert bench.compiler.last is not None
        assert bench.compiler.last.outcome != "failed", bench.compiler.last
    names = bench.telemetry.names()
    assert "compile_failed" not in names and "session_failed" not in names


async def _live(bench: Bench) -> None:
    await bench.start()
    checkpointer = Checkpointer(bench.homes.checkpoints, bench.books, bench.health, bench.telemetry)
    await checkpointer.restore()
    await bench.keeper.refresh()
    await bench.lexicon.refresh(bench.keeper.surface)
    await bench.compile()
    catalog = bench.lexicon.catalog(bench.keeper.catalog)
    await bench.books.overview(catalog, bench.tailer.newest_first)
    await checkpointer.flush()
