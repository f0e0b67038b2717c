"""Files that were asked for: what stands in the way, what is followed, and what is in force."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from fabricd.core.certifying.laws import Laws
from fabricd.core.compiling.artifact import artifact_bytes, artifact_of
from tests.cli.running import SCHEMA, Cli, action, process, surface_of
from tests.core.compiling.test_artifact import SOUND

COMMANDS = ("export", "export-artifact", "lab", "certify")


@pytest.fixture(autouse=True)
def home(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a surface and an artifact, and a certification that takes no time."""
    entropy = place / "home" / "entropy"
    entropy.mkdir(parents=True)
    (place / "home" / "repairs").mkdir()
    (place / "logs").mkdir()
    (entropy / "surface.json").write_bytes(surface_of(action("a", SCHEMA)))
    artifact = artifact_of(SOUND)
    assert artifact is not None
    (entropy / "compiled.json").write_bytes(artifact_bytes(artifact))

    def none(_: Laws) -> tuple[()]:
        return ()

    monkeypatch.setattr("fabricd.daemon.offline.certifying.fixed_checks", none)
    return place / "home"


def asking(command: str, place: Path, target: Path) -> Sequence[str | Path]:
    """The command line that writes something to a path."""
    match command:
        case "lab":
            surface = place / "home" / "entropy" / "surface.json"
            return (command, "--sessions", place / "logs", "--surface", surface, "--out", target)
        case "certify":
            return (command, "--json", target)
        case _:
            return (command, target)


@contextmanager
def reading(pipe: Path) -> Generator[list[bytes], None, None]:
    """Somebody who reads a pipe to its end."""
    heard: list[bytes] = []
    thread = threading.Thread(target=lambda: heard.append(pipe.read_bytes()), daemon=True)
    thread.start()
    yield heard
    thread.join(5)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_pipe_is_written_to_and_stays(cli: Cli, place: Path, command: str) -> None:
    pipe = place / "pipe"
    os.mkfifo(pipe)
    with reading(pipe) as heard:
        found = cli(*asking(command, place, pipe))
    assert "cannot" not in found.err and heard[0].startswith(b"{")
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert sorted(os.listdir(place)) == ["home", "logs", "pipe"]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_link_is_followed(cli: Cli, place: Path, command: str) -> None:
    (place / "far").mkdir()
    (place / "far" / "old.json").write_text("old")
    for name in ("old.json", "new.json"):
        (place / name).symlink_to(place / "far" / name)
        cli(*asking(command, place, place / name)).says(*_told(command))
        assert (place / name).is_symlink()
        assert (place / "far" / name).read_bytes().startswith(b"{")
    assert sorted(os.listdir(place / "far")) == ["new.json", "old.json"]


def _told(command: str) -> tuple[str, ...]:
    return ("exported",) if command.startswith("export") else ("wrote",)


@pytest.mark.parametrize("command", COMMANDS)
def test_no_directory_is_made(cli: Cli, place: Path, command: str) -> None:
    target = place / "x" / "y" / "z.json"
    (place / "link").symlink_to(target)
    for path in (target, place / "link"):
        found = cli(*asking(command, place, path))
        found.says("cannot be written", f"there is no directory {place / 'x' / 'y'}")
        assert found.code == 1
    assert not (place / "x").exists()


def test_a_link_to_itself_is_one_sentence_and_stays(cli: Cli, place: Path) -> None:
    (place / "round").symlink_to(place / "round")
    cli("export", place / "round").complains(1, "round cannot be written")
    assert (place / "round").is_symlink()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no full device")
def test_a_full_device_is_a_failure_and_stays(cli: Cli, place: Path) -> None:
    before = os.stat("/dev/full")
    (place / "full").symlink_to("/dev/full")
    # Through a link of ours: even a fault would replace no more than that.
    cli("export", place / "full").complains(1, "cannot be written", "No space left")
    after = os.stat("/dev/full")
    assert (before.st_ino, before.st_rdev) == (after.st_ino, after.st_rdev)
    assert (place / "full").is_symlink()


def test_what_a_shell_redirected_is_added_to(place: Path) -> None:
    told = place / "told"
    told.write_text("before\n")
    descriptor = os.open(told, os.O_WRONLY | os.O_APPEND)
    done = subprocess.run(
        [sys.executable, "-m", "fabricd", "export", "/dev/stdout"],
        stdout=descriptor,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(descriptor)
    assert done.returncode == 0
    assert told.read_bytes() == b"before\n" + process("export").out


# --- files in force


NAMES = ("compiled.json", "observation-pool.json", "compiled.lock", "anything.json")


@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_in_force_is_replaced(cli: Cli, place: Path, home: Path, command: str) -> None:
    before = (home / "entropy" / "compiled.json").read_bytes()
    (place / "entropy").symlink_to(home / "entropy")
    (place / "link.json").symlink_to(home / "entropy" / "compiled.json")
    targets = [home / "entropy" / name for name in NAMES]
    targets += [home / "repairs" / name for name in ("current.json", "learned.json", "new.json")]
    targets += [place / "entropy" / "observation-pool.json", place / "link.json"]
    for target in targets:
        cli(*asking(command, place, target)).complains(2, str(target), "choose another path")
    assert sorted(os.listdir(home / "entropy")) == ["compiled.json", "surface.json"]
    assert os.listdir(home / "repairs") == []
    assert (home / "entropy" / "compiled.json").read_bytes() == before


def test_a_file_in_force_that_lies_elsewhere_is_in_force(cli: Cli, place: Path, home: Path) -> None:
    (home / "entropy" / "compiled.json").rename(place / "real.json")
    (home / "entropy" / "compiled.json").symlink_to(place / "real.json")
    (home / "entropy" / "artifact.json").symlink_to(place / "real.json")
    cli("export", place / "real.json").complains(2, "real.json", "in force")
    cli("export-artifact").complains(2, "the compiled artifact itself")


def test_each_export_has_one_place_in_the_home(cli: Cli, home: Path) -> None:
    surface, artifact = home / "entropy" / "surface.json", home / "entropy" / "artifact.json"
    cli("export", surface).says("exported 1 action to")
    cli("export-artifact", artifact).says("exported")
    cli("export", artifact).complains(2, "in force")
    cli("export-artifact", surface).complains(2, "in force")
    for command in ("lab", "certify"):
        for target in (surface, artifact):
            cli(*asking(command, home.parent, target)).complains(2, "in force")
