"""What kind of file a path is."""

from __future__ import annotations

import pytest

from fabricd.core.context.ranking.kinds import kind_of, wished


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("src/client.py", "source"),
        ("tests/test_client.py", "test"),
        ("src/client.test.ts", "test"),
        ("pkg/client_test.go", "test"),
        ("conftest.py", "test"),
        ("runtime-tests/node/index.ts", "test"),
        ("src/testing.py", "source"),
        ("src/contest.py", "source"),
        ("testing/test_runner.py", "test"),
        ("src/helper/testing/index.ts", "source"),
        ("src/main/java/Latest.java", "source"),
        ("src/ClientTest.java", "test"),
        ("spec/client_spec.rb", "test"),
        ("src/build/plan.ts", "source"),
        ("packages/core/dist/index.js", "vendored"),
        ("src/change_password.py", "source"),
        ("LICENSE", "doc"),
        ("tools/release.py", "example"),
        ("src/tools/wrench.py", "source"),
        ("src/latest/index.ts", "source"),
        ("docs/index.md", "doc"),
        ("README", "doc"),
        ("CHANGELOG.rst", "doc"),
        ("pyproject.toml", "config"),
        (".github/workflows/ci.yml", "config"),
        ("src/config/index.ts", "source"),
        ("vite.config.ts", "config"),
        ("examples/app.py", "example"),
        ("scripts/release.sh", "example"),
        ("vendor/lib/a.go", "vendored"),
        ("package-lock.json", "vendored"),
        ("src/locales/de.ts", "vendored"),
        ("api_pb2.py", "vendored"),
        ("static/jquery.min.js", "vendored"),
    ],
)
def test_kind(path: str, kind: str) -> None:
    assert kind_of(path) == kind


def test_wishes() -> None:
    assert wished("add a test for the parser") == {"test"}
    assert wished("the docs of the CI workflow") == {"doc", "config"}
    assert wished("config: read it once") == frozenset()
    assert wished("contest of the latest") == frozenset()
    assert wished("where is `printable` tested?") == {"test"}
    assert wished("It fails. I tested it with 3.12") == frozenset()
    assert wished("where is it saved, and where is that tested?") == frozenset()
