"""The service templates parse, and agree with what the daemon does."""

from __future__ import annotations

import configparser
import plistlib
from importlib.resources import files

from fabricd.daemon.start import BAD_CONFIG


class Unit(configparser.ConfigParser):
    """Keys as they are spelt."""

    def optionxform(self, optionstr: str) -> str:
        return optionstr


def test_the_unit_waits_for_readiness_and_does_not_restart_a_bad_configuration() -> None:
    unit = Unit(interpolation=None)
    unit.read_string((files("fabricd") / "systemd" / "fabricd.service").read_text())
    service = unit["Service"]
    assert (service["Type"], service["NotifyAccess"]) == ("notify", "main")
    assert service["ExecStart"].endswith("fabricd run")
    assert service["RestartPreventExitStatus"] == str(BAD_CONFIG)
    assert service["RestrictAddressFamilies"] == "AF_UNIX"


def test_the_agent_runs_in_the_foreground_and_restarts_only_failures() -> None:
    agent = plistlib.loads((files("fabricd") / "systemd" / "dev.fabricd.plist").read_bytes())
    assert agent["ProgramArguments"][1:] == ["run"]
    assert agent["KeepAlive"] == {"SuccessfulExit": False}
    assert agent["SoftResourceLimits"]["NumberOfFiles"] == 4096
