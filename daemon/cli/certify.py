"""`fabricd certify`: the laws that fabricd rests on, checked here and now."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabricd.daemon.cli.completing import directories, files
from fabricd.daemon.cli.inputs import artifact_at, measured, surface_at
from fabricd.daemon.cli.talk import FAILED, Complaint, out, say
from fabricd.store.durable import shown

if TYPE_CHECKING:
    from fabricd.core.certifying.claims import Certification
    from fabricd.core.certifying.corpora import Examined
    from fabricd.core.certifying.laws import Laws

_PATH = click.Path(path_type=Path, readable=False)


@click.command("certify")
@click.option(
    "--sessions",
    type=_PATH,
    metavar="DIR",
    shell_complete=directories,
    help="Also certify a directory of session logs.",
)
@click.option(
    "--surface", "surface_file", type=_PATH, metavar="FILE", help="The surface that they ran on."
)
@click.option("--trial", "tried", is_flag=True, help="Also replay their calls through plans.")
@click.option(
    "--artifact", "artifact_file", type=_PATH, metavar="FILE", help="The artifact on trial."
)
@click.option(
    "--json",
    "target",
    metavar="FILE",
    shell_complete=files,
    help="Write the certificate; - for stdout.",
)
def command(
    sessions: Path | None,
    surface_file: Path | None,
    tried: bool,
    artifact_file: Path | None,
    target: str | None,
) -> int:
    """Check the laws of measuring and repairing, on examples and on recorded sessions.

    --surface needs --sessions, --trial needs both, and --artifact needs --trial. The exit code is
    1 if any check fails.
    """
    from fabricd.core.certifying.certify import certify_steps
    from fabricd.core.certifying.corpora import corpus_checks
    from fabricd.core.certifying.laws import Laws
    from fabricd.core.steps import finish
    from fabricd.daemon.cli.live import require_harmless
    from fabricd.daemon.offline.certifying import fixed_checks

    _require(sessions is not None, surface_file, "--surface needs --sessions")
    _require(surface_file is not None, tried or None, "--trial needs --sessions and --surface")
    _require(tried, artifact_file, "--artifact needs --trial")
    if target is not None and target != "-":
        require_harmless(Path(target))
    laws = Laws()
    examined: Examined | None = None
    if sessions is not None:
        examined = _examined(laws, sessions, surface_file, tried, artifact_file)
    checks = fixed_checks(laws)
    if examined is not None:
        checks += corpus_checks(laws, examined)
    certification = finish(certify_steps(checks))
    _tell(certification, target)
    if target is not None:
        _put(target, _certificate(laws, certification, examined))
    return 0 if certification.passed else FAILED


def _require(holds: bool, given: object, words: str) -> None:
    if given is not None and not holds:
        raise click.UsageError(words, click.get_current_context())


def _examined(
    laws: Laws, sessions: Path, surface_file: Path | None, tried: bool, artifact_file: Path | None
) -> Examined:
    from fabricd.core.certifying.corpora import examine_steps
    from fabricd.core.steps import finish
    from fabricd.daemon.offline.certifying import corpus_of

    surface = None if surface_file is None else surface_at(surface_file)
    artifact = None if artifact_file is None else artifact_at(artifact_file)
    corpus = corpus_of(measured(sessions))
    try:
        return finish(examine_steps(laws, corpus, surface, artifact, tried))
    except OSError as error:
        reason = error.strerror or str(error)
        raise Complaint(f"{shown(sessions)} cannot be read again: {reason}") from None


def _tell(certification: Certification, target: str | None) -> None:
    """The findings in words; where the certificate itself is the output, a failure on stderr."""
    from fabricd.daemon.cli.certify_words import certify_words, summary

    if target != "-":
        out(certify_words(certification))
    elif not certification.passed:
        say(summary(certification))


def _certificate(
    laws: Laws, certification: Certification, examined: Examined | None
) -> dict[str, Any]:
    from fabricd import __version__
    from fabricd.core.certifying.certify import evaluation_value, fixtures_value
    from fabricd.core.certifying.corpora import corpus_value

    return {
        "kind": "fabricd.certification",
        "version": 1,
        "metricVersion": 3,
        "fabricd": __version__,
        "fixtures": fixtures_value(),
        **({} if examined is None else corpus_value(laws, examined)),
        "evaluation": evaluation_value(certification),
    }


def _put(target: str, certificate: dict[str, Any]) -> None:
    from fabricd.core.canonical import pretty, utf8
    from fabricd.daemon.cli.live import write

    data = utf8(pretty(certificate) + "\n")
    if target == "-":
        out(data)
        return
    path = Path(target)
    write(path, data)
    say(f"wrote {shown(path)}")
