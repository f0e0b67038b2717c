from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from fabricd.daemon.hooks.agents import Place
from fabricd.daemon.hooks.applying import Unusable, carry_out, plan
from fabricd.daemon.hooks.program import words_for
from fabricd.store.configurations import ChangedMeanwhile
from tests.core.jsontext.written import texts
from tests.daemon.hooks.placing import environment, present
from tests.daemon.hooks.test_settings import files

WORDS = words_for("/opt/bin/fabricd-hook", "claude-code")
SUPPRESSED = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large]
OTHER = words_for("/another/fabricd-hook", "claude-code")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return present("claude-code", environment(tmp_path))[1]


def backup_of(place: Place) -> Path:
    return place.path.with_name("settings.json.fabricd-backup")


def do(place: Place, words: tuple[str, ...] | None) -> str:
    planned = plan(place, words)
    if planned.changes:
        carry_out(planned)
    return planned.what


ORIGINALS = [
    b"{}",
    b"",
    b"{ }\r\n",
    b'\xef\xbb\xbf{\r\n\t"a": 1\r\n}',
    b'{"hooks": {}}',
    b'{"hooks": {"Stop": []}}\n',
    b'{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "echo"}]}]}}',
    '{"ü": "\u2028"}'.encode(),
]


@pytest.mark.parametrize("original", ORIGINALS)
def test_uninstalling_gives_the_very_bytes_back(place: Place, original: bytes) -> None:
    place.path.write_bytes(original)
    place.path.chmod(0o640)
    assert do(place, WORDS) == "installed"
    first = place.path.read_bytes()
    assert first != original
    assert backup_of(place).read_bytes() == original
    assert do(place, WORDS) == "already_installed"
    assert place.path.read_bytes() == first
    assert do(place, OTHER) == "updated"
    assert backup_of(place).read_bytes() == original
    assert do(place, None) == "uninstalled"
    assert place.path.read_bytes() == original
    assert stat.S_IMODE(place.path.stat().st_mode) == 0o640
    assert os.listdir(place.home) == ["settings.json"]
    assert do(place, None) == "already_uninstalled"


@settings(max_examples=60, suppress_health_check=SUPPRESSED)
@given(texts(files(mine=False)))
def test_and_so_it_does_whatever_stood_there(place: Place, text: str) -> None:
    place.path.write_bytes(text.encode())
    assert do(place, WORDS) == "installed"
    assert do(place, None) == "uninstalled"
    assert place.path.read_bytes() == text.encode()
    assert os.listdir(place.home) == ["settings.json"]


def test_where_there_was_no_file_there_is_none_again(place: Place) -> None:
    assert do(place, WORDS) == "installed"
    assert do(place, OTHER) == "updated"
    assert os.listdir(place.home) == ["settings.json"]
    assert do(place, None) == "uninstalled"
    assert os.listdir(place.home) == []


def test_what_was_written_since_stays_and_is_kept(place: Place) -> None:
    place.path.write_text('{\n  "a": 1\n}')
    do(place, WORDS)
    text = place.path.read_text().replace('"a": 1', '"a": 2')
    place.path.write_text(text)
    assert do(place, None) == "uninstalled"
    assert place.path.read_text() == '{\n  "a": 2\n}'
    assert backup_of(place).read_text() == text
    assert stat.S_IMODE(backup_of(place).stat().st_mode) == 0o600


def test_a_backup_is_never_taken_for_another_files(place: Place) -> None:
    place.path.write_text('{"a": 1}')
    do(place, WORDS)
    place.path.write_text('{"b": 1}')
    do(place, WORDS)
    assert backup_of(place).read_text() == '{"b": 1}'
    backup_of(place).write_text("garbage")
    assert do(place, None) == "uninstalled"
    assert place.path.read_text() == '{"b": 1}'


def test_a_backup_of_older_days_outlives_a_file_of_ours_alone(place: Place) -> None:
    place.path.write_text('{"a": 1}')
    do(place, WORDS)
    place.path.unlink()
    do(place, WORDS)
    assert do(place, None) == "uninstalled"
    assert os.listdir(place.home) == [backup_of(place).name]
    assert backup_of(place).read_text() == '{"a": 1}'


def test_a_file_that_changes_after_the_look_is_left_alone(place: Place) -> None:
    place.path.write_text('{"a": 1}')
    planned = plan(place, WORDS)
    place.path.write_text('{"a": 2}')
    with pytest.raises(ChangedMeanwhile):
        carry_out(planned)
    assert place.path.read_text() == '{"a": 2}'


def test_a_plan_writes_nothing(place: Place) -> None:
    place.path.write_text('{"a": 1}')
    planned = plan(place, WORDS)
    assert planned.changes and planned.before == '{"a": 1}' and planned.after is not None
    assert os.listdir(place.home) == ["settings.json"]
    assert place.path.read_text() == '{"a": 1}'


def test_what_is_not_to_be_written_is_not_planned(place: Place) -> None:
    place.path.write_text('{"a": 1}')
    place.path.chmod(0o444)
    with pytest.raises(Unusable, match="read-only"):
        plan(place, WORDS)
    # To find that nothing is to be done is no writing.
    assert plan(place, None).what == "already_uninstalled"


def test_a_backup_that_cannot_be_made_stops_it(place: Place) -> None:
    place.path.write_text('{"a": 1}')
    backup_of(place).mkdir()
    with pytest.raises(OSError):
        carry_out(plan(place, WORDS))
    assert place.path.read_text() == '{"a": 1}'


def test_a_backup_with_a_hook_of_ours_is_no_origin(place: Place) -> None:
    place.path.write_text('{\n  "a": 1\n}')
    do(place, WORDS)
    text = place.path.read_text().replace('"a": 1', '"a": 2')
    place.path.write_text(text)
    assert do(place, OTHER) == "updated"
    assert backup_of(place).read_text() == text
    assert do(place, None) == "uninstalled"
    assert place.path.read_text() == '{\n  "a": 2\n}'
