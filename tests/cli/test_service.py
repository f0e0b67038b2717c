"""`fabricd service`, with a systemctl of our own where systemd would have to answer."""

from __future__ import annotations

import json
import os
import plistlib
import stat
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from fabricd.daemon.service import init_system
from fabricd.daemon.service.init_system import Launchd
from fabricd.daemon.service.unit_files import author
from fabricd.store.locks import holder
from tests.cli.running import Cli
from tests.daemon.starting import background
from tests.harness import ROOT, Daemon

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="these are systemd's words")

# A user manager in so far as the commands of ours need one: it remembers what is enabled, and runs
# what the unit says.
SYSTEMCTL = """
import json, os, shlex, signal, subprocess, sys
from pathlib import Path
here = Path(__file__).parent
state = json.loads((here / "state").read_text())
words = [word for word in sys.argv[1:] if word != "--user"]
with (here / "asked").open("a") as file:
    file.write(" ".join(words) + "\\n")
if state.get("absent"):
    sys.exit("Failed to connect to bus: No medium found")
unit = Path(os.environ["XDG_CONFIG_HOME"]) / "systemd" / "user" / "fabricd.service"
def alive():
    pid = state.get("pid")
    try:
        return bool(pid) and b"fabricd" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
verb, names = words[0], words[1:]
if verb == "show" and "--property=Version" in names:
    print("Version=999")
elif verb == "show":
    print("UnitFileState=" + ("enabled" if state.get("enabled") else "disabled"))
    print("ActiveState=" + ("active" if alive() else "inactive"))
    print("MainPID=" + str(state["pid"] if alive() else 0))
    print("ExecMainCode=" + ("1" if state.get("pid") and not alive() else "0"))
    print("ExecMainStatus=0\\nResult=success\\nNRestarts=3")
elif verb in ("enable", "disable"):
    state["enabled"] = verb == "enable"
if verb == "start" and "fabricd.service" in names and not alive():
    lines = unit.read_text().splitlines()
    env = {k: v for k, v in os.environ.items() if not k.startswith(("FABRICD_", "PI_"))}
    for line in lines:
        if line.startswith("Environment="):
            (word,) = shlex.split(line.removeprefix("Environment="))
            name, _, value = word.partition("=")
            env[name] = value
    (line,) = [line for line in lines if line.startswith("ExecStart=")]
    with (here / "journal").open("a") as journal:
        state["pid"] = subprocess.Popen(
            [sys.executable, "-m", "fabricd", *shlex.split(line.removeprefix("ExecStart="))[1:]],
            env=env, stdin=subprocess.DEVNULL, stdout=journal, stderr=journal,
            start_new_session=True,
        ).pid
if (verb == "stop" or "--now" in names) and "fabricd.service" in names and alive():
    os.kill(state["pid"], signal.SIGTERM)
(here / "state").write_text(json.dumps(state))
"""
JOURNALCTL = """
import sys
from pathlib import Path
count = int(sys.argv[sys.argv.index("-n") + 1])
sys.stdout.write("".join(
    (Path(__file__).parent / "journal").read_text().splitlines(keepends=True)[-count:]
))
"""


class Manager:
    """The fake, in a folder that comes first in the search path."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.set()
        for name, script in (("systemctl", SYSTEMCTL), ("journalctl", JOURNALCTL)):
            (folder / name).write_text(f"#!{sys.executable} -S\n{script}")
            (folder / name).chmod(0o755)

    def set(self, **state: object) -> None:
        (self.folder / "state").write_text(json.dumps(state))

    @property
    def asked(self) -> list[str]:
        """What was asked to be done; looking is left out."""
        path = self.folder / "asked"
        lines = path.read_text().splitlines() if path.exists() else []
        return [line for line in lines if not line.startswith("show")]


@pytest.fixture
def manager(place: Path, monkeypatch: pytest.MonkeyPatch) -> Manager:
    manager = Manager(place / "bin")
    monkeypatch.setenv("PATH", f"{place / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(place / "config"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    for name in ("XDG_STATE_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    return manager


@pytest.fixture
def nobody(manager: Manager) -> Manager:
    """No user manager runs, as in a container or behind su."""
    manager.set(absent=True)
    return manager


@pytest.fixture
def home(place: Path, manager: Manager) -> Generator[Daemon, None, None]:
    """A home whose service runs real daemons."""
    with background(place) as subject:
        yield subject


def unit_of(place: Path, name: str = "fabricd.service") -> Path:
    return place / "config" / "systemd" / "user" / name


@pytest.mark.usefixtures("nobody")
def test_a_dry_run_shows_everything_and_writes_nothing(cli: Cli, place: Path) -> None:
    found = cli("service", "install", "--dry-run", "--socket")
    text = found.out.decode()
    assert (found.code, found.err) == (0, "")
    assert text.startswith(f"# {unit_of(place)}\n") and "[Socket]" in text
    assert f'Environment="FABRICD_HOME={place}/home"' in text
    assert f"ListenStream={place}/home/run/control.sock" in text
    assert not (place / "config").exists()
    value = cli("service", "install", "--dry-run", "--json").json
    assert value["state"] == "would_install"
    assert [Path(file["path"]).name for file in value["files"]] == ["fabricd.service"]


def test_without_a_manager_the_file_is_written_and_the_commands_are_said(
    cli: Cli, place: Path, nobody: Manager
) -> None:
    found = cli("service", "install")
    path = unit_of(place)
    assert found.code == 0
    assert path.read_text() in found.out.decode()
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert author(path.read_text()) == "ours"
    assert "systemctl --user daemon-reload && systemctl --user enable fabricd.service" in found.err
    assert nobody.asked == []
    again = cli("service", "install", "--json").json
    assert again["state"] == "already_installed"
    assert again["commands"][-1] == ["systemctl", "--user", "start", "fabricd.service"]
    status = cli("service", "status")
    assert status.code == 3
    assert f"installed {path}\n" in status.out.decode() and b"no systemd answers" in status.out


@pytest.mark.usefixtures("nobody")
@pytest.mark.parametrize("change", ["edited", "foreign"])
def test_files_of_others_are_kept_unless_forced_and_then_backed_up(
    cli: Cli, place: Path, change: str
) -> None:
    path = unit_of(place)
    cli("service", "install")
    theirs = path.read_text() + "# mine\n" if change == "edited" else "[Service]\n"
    path.write_text(theirs)
    words = "changed by hand" if change == "edited" else "not written by fabricd"
    for arguments in (["install"], ["uninstall"]):
        found = cli("service", *arguments)
        assert found.code == 1
        found.says(words, "--force replaces" if arguments == ["install"] else "--force removes")
        assert path.read_text() == theirs
    forced = cli("service", "install", "--force")
    assert forced.code == 0 and "backup-1" in forced.err
    assert author(path.read_text()) == "ours"
    path.write_text(theirs)
    assert cli("service", "uninstall", "--force").code == 0
    assert not path.exists()
    backups = [path.with_name(f"fabricd.service.backup-{number}") for number in (1, 2)]
    assert [backup.read_text() for backup in backups] == [theirs] * 2


@pytest.mark.usefixtures("nobody")
def test_a_masked_unit_is_somebodys_decision(cli: Cli, place: Path) -> None:
    unit_of(place).parent.mkdir(parents=True)
    unit_of(place).symlink_to("/dev/null")
    found = cli("service", "install")
    assert found.code == 1 and "not written by fabricd" in found.err
    assert unit_of(place).is_symlink()


@pytest.mark.usefixtures("nobody")
def test_uninstall_removes_what_install_wrote_and_nothing_else(cli: Cli, place: Path) -> None:
    cli("service", "install", "--socket")
    folder = unit_of(place).parent
    (folder / "fabricd.service.d").mkdir()
    (folder / "fabricd.service.d" / "mine.conf").write_text("")
    for name in ("default.target.wants", "sockets.target.wants"):
        (folder / name).mkdir()
    (folder / "default.target.wants" / "fabricd.service").symlink_to(unit_of(place))
    (folder / "default.target.wants" / "other.service").symlink_to("/nowhere")
    would = cli("service", "uninstall", "--dry-run")
    assert would.out.decode().count("would remove") == 2 and unit_of(place).exists()
    removed = cli("service", "uninstall", "--json").json
    assert removed["state"] == "uninstalled" and len(removed["removed"]) == 2
    left = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())
    assert left == ["default.target.wants/other.service", "fabricd.service.d/mine.conf"]
    again = cli("service", "uninstall", "--json")
    assert (again.code, again.json["state"]) == (0, "already_uninstalled")
    status = cli("service", "status", "--json")
    assert (status.code, status.json["state"]) == (3, "not_installed")


@pytest.mark.usefixtures("nobody")
def test_a_socket_that_is_not_wanted_any_more_is_removed(cli: Cli, place: Path) -> None:
    cli("service", "install", "--socket")
    socket = unit_of(place, "fabricd.socket")
    assert f"socket    {socket}\n" in cli("service", "status").out.decode()
    status = cli("service", "status", "--json").json
    assert status["socket"] == {"path": str(socket), "author": "ours"}
    would = cli("service", "install", "--dry-run", "--json")
    assert would.json["removed"] == [str(socket)] and socket.exists()
    ours = socket.read_text()
    socket.write_text(ours + "# mine\n")
    found = cli("service", "install")
    assert found.code == 1 and "fabricd.socket was changed by hand: --force removes" in found.err
    socket.write_text(ours)
    found = cli("service", "install", "--json")
    assert (found.code, found.json["state"]) == (0, "installed")
    assert found.json["removed"] == [str(socket)] and not socket.exists()
    assert f"{socket} is removed" in found.err and "Wants=" not in unit_of(place).read_text()
    assert cli("service", "status", "--json").json["socket"] is None
    socket.write_text("[Socket]\n")
    assert cli("service", "install", "--json").json["removed"] == [] and socket.exists()


def test_a_service_that_loses_its_socket_is_started_anew(
    home: Daemon, cli: Cli, manager: Manager
) -> None:
    first = cli("service", "install", "--socket", "--json").json["started"]
    found = cli("service", "install", "--json")
    assert found.code == 0, found.err
    assert found.json["started"]["pid"] != first["pid"]
    assert "disable --now fabricd.socket" in manager.asked
    assert home.status()["pid"] == found.json["started"]["pid"]


@pytest.mark.usefixtures("nobody")
def test_a_place_that_is_not_utf8_is_refused(
    cli: Cli, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("FABRICD_HOME", f"{place}/h\udcff")
        cli("service", "install").complains(1, "FABRICD_HOME names", "h\\xff", "not UTF-8")
    # A path that no variable of ours names.
    monkeypatch.delenv("FABRICD_HOME")
    monkeypatch.setenv("XDG_RUNTIME_DIR", "")
    monkeypatch.setenv("HOME", f"{place}/m\udcff")
    cli("service", "install", "--socket").complains(1, "fabricd.socket", "not UTF-8")
    assert not unit_of(place).exists()


def test_the_service_takes_over_from_a_daemon_that_runs_by_itself(
    home: Daemon, cli: Cli, manager: Manager
) -> None:
    home.start()
    installed = cli("service", "install", "--json")
    assert installed.code == 0, installed.err
    started = installed.json["started"]
    assert home.process is not None and home.process.wait(5) == 0
    assert (started["state"], started["through"]) == ("started", "systemd")
    assert home.status()["pid"] == started["pid"]
    assert manager.asked == [
        "daemon-reload",
        "enable fabricd.service",
        "reset-failed fabricd.service",
        "start fabricd.service",
    ]
    status = cli("service", "status", "--json")
    assert status.code == 0
    assert (
        status.json.items()
        >= {
            "active": "active",
            "enabled": True,
            "pid": started["pid"],
            "author": "ours",
            "here": True,
            "lastExit": None,
            "restarts": 3,
        }.items()
    )
    assert b"daemon_started" in cli("logs", "-n", "3").out
    assert any("daemon_started" in line["text"] for line in cli("logs", "--json").lines)
    assert cli("stop").code == 0
    after = cli("service", "status")
    assert after.code == 3 and b"last exit exit code 0" in after.out
    again = cli("start", "--json").json
    assert (again["state"], again["through"], again["log"]) == ("started", "systemd", None)
    removed = cli("service", "uninstall")
    assert removed.code == 0, removed.err
    assert "disable --now fabricd.service" in manager.asked
    home.until(lambda: holder(home.home / "fabricd.lock") is None)


def test_a_service_for_other_places_is_none_of_this_homes(
    home: Daemon, cli: Cli, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("FABRICD_STATE_DIR", str(place / "elsewhere"))
        cli("service", "install")
        cli("stop")
    assert cli("start", "--json").json["through"] is None
    assert home.status()["state"] == "ready"
    assert b"for other places than this shell's" in cli("service", "status").out


def test_a_service_that_fails_says_why_and_how(home: Daemon, cli: Cli, manager: Manager) -> None:
    manager.set(absent=True)
    cli("service", "install")
    (manager.folder / "systemctl").write_text(
        f"#!{sys.executable} -S\n"
        "import sys\n"
        "if 'start' in sys.argv: sys.exit('Job for fabricd.service failed.\\nSee elsewhere.')\n"
        "print('ActiveState=failed\\nExecMainCode=1\\nExecMainStatus=4')\n"
    )
    cli("start").complains(4, "systemd cannot start fabricd")
    (manager.folder / "journalctl").write_text("#!/bin/sh\necho 'fabricd: it went wrong'\n")
    cli("start").complains(4, "it went wrong")
    assert holder(home.home / "fabricd.lock") is None


def test_the_agent_of_launchd_is_a_sound_plist(
    cli: Cli, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place / "bin").mkdir()
    (place / "bin" / "launchctl").write_text("#!/bin/sh\nexit 113\n")
    (place / "bin" / "launchctl").chmod(0o755)
    monkeypatch.setenv("PATH", f"{place / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(place))
    monkeypatch.setattr(init_system, "this_system", Launchd)
    found = cli("service", "install")
    path = place / "Library" / "LaunchAgents" / "dev.fabricd.plist"
    value = plistlib.loads(path.read_bytes())
    assert found.code == 0
    assert value["ProgramArguments"][1:] == ["run"]
    assert os.access(value["ProgramArguments"][0], os.X_OK)
    assert value["EnvironmentVariables"]["FABRICD_HOME"] == str(place / "home")
    target = f"gui/{os.getuid()}"
    assert f"launchctl enable {target}/dev.fabricd" in found.err
    assert f"launchctl bootstrap {target} {path}" in found.err
    assert cli("service", "install", "--socket").code == 2
    assert cli("service", "status").code == 3
    assert cli("service", "uninstall").code == 0
    assert not path.exists()


PRINTED = """gui/501/dev.fabricd = {
\tactive count = 1
\tstate = running

\tprogram = /opt/bin/fabricd
\tpid = 4711
\tlast exit code = 78: EX_CONFIG
}
"""


def test_what_launchd_prints_is_understood(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / "launchctl").write_text(f"#!/bin/sh\ncat <<'END'\n{PRINTED}END\n")
    (place / "launchctl").chmod(0o755)
    monkeypatch.setenv("PATH", f"{place}:{os.environ['PATH']}")
    condition = Launchd().condition()
    assert (condition.enabled, condition.active, condition.pid) == (True, "active", 4711)
    assert (condition.last_exit, condition.exit_code) == ("exit code 78", 78)


@pytest.mark.usefixtures("nobody")
def test_a_python_without_the_script_is_refused(
    cli: Cli, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(place))
    monkeypatch.setattr(sys, "executable", str(place / "python"))
    found = cli("service", "install", "--dry-run")
    found.complains(1, "no fabricd script", "pip install")


def test_a_system_without_either_is_a_sentence(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "freebsd14")
    for command in ("install", "uninstall", "status"):
        cli("service", command).complains(1, "neither systemd nor launchd", "fabricd start")


@pytest.mark.usefixtures("manager")
def test_a_program_that_takes_too_long_is_given_up() -> None:
    assert init_system.ask(("sleep", "5"), 0.1).code == init_system.TOO_SLOW
    assert init_system.ask(("no-such-program-here",)).code == 127
