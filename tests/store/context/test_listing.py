"""Without git, or against it, the same files are listed; and a listing knows when it is old."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricd.core.steps import finish
from fabricd.store.context.git import NoRoot, Places
from fabricd.store.context.ignoring import patterns_of, verdict
from fabricd.store.context.index import Store
from fabricd.store.context.listing import Listing, TooMany, listed
from tests.store.context.trees import ANALYSER, git, make_repository, picture, slow_git, write


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = make_repository(tmp_path / "tree")
    write(root, ".gitignore", "/top.py\n*.log\nout/\n!keep.log\nd/**/deep.py\n\\#odd\n")
    write(root, "d/.gitignore", "!up.log\ne/\n!/e/\n*.tmp\n")
    for name in ("top.py", "d/top.py", "a.log", "keep.log", "d/up.log", "out/a.py", "d/out/b.py"):
        write(root, name, "alpha")
    for name in ("d/e/f/deep.py", "d/e/x.tmp", "#odd", "d/e/g.py", "s p.py", "é.py"):
        write(root, name, "alpha")
    return root


@pytest.fixture
def trusting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stamps of this file system are fine enough for a test that does not wait."""
    monkeypatch.setattr("fabricd.store.context.reading.RACY_NS", 0)


def _listed(root: Path) -> Listing:
    return finish(listed(finish(Places().find(str(root)))))


def test_git_and_the_rules_agree(tree: Path) -> None:
    by_git = _listed(tree)
    shutil.rmtree(tree / ".git")
    by_rules = _listed(tree)
    assert by_rules.files == by_git.files
    assert by_rules.ignored == by_git.ignored
    assert by_rules.warnings == by_git.warnings == ()
    assert "d/e/g.py" in by_git.files and "keep.log" in by_git.files


def test_where_git_fails_the_rules_are_read_and_it_is_told(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = _listed(tree).files
    slow_git(tmp_path / "bin", "ls-files", monkeypatch)
    found = _listed(tree)
    assert found.files == expected
    assert found.warnings == ("git did not answer within 0.5 s; listed without git",)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    found = _listed(tree)
    assert found.files == expected
    assert found.warnings == ("git cannot be run; listed without git",)


def test_a_broken_repository_is_listed_from_its_top(tree: Path, tmp_path: Path) -> None:
    expected = _listed(tree).files
    (tree / ".git/HEAD").write_text("nonsense")
    with Store.open(tmp_path / "state", ANALYSER) as store:
        snapshot = finish(store.refresh(str(tree / "d")))
    assert snapshot.root == str(tree)
    assert [file.path for file in snapshot.corpus().files] == [
        path for path in expected if path.endswith(".py")
    ]
    assert len(snapshot.warnings) == 1


@pytest.mark.usefixtures("trusting")
def test_other_repositories_are_none_of_its_files(tree: Path, tmp_path: Path) -> None:
    module = make_repository(tmp_path / "module")
    write(module, "m.py", "alpha")
    git(module, "add", "-A")
    git(module, "commit", "-qm", "m")
    git(tree, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(module), "sub")
    write(make_repository(tree / "d/nested"), "n.py", "alpha")
    git(tree / "d/nested", "add", "-A")
    git(tree / "d/nested", "commit", "-qm", "n")
    found = _listed(tree)
    assert found.nested == ["d/nested", "sub"]
    assert found.is_current()
    with Store.open(tmp_path / "state", ANALYSER) as store:
        assert finish(store.refresh(str(tree))).skipped["policy"] == 2


def test_what_a_sparse_checkout_leaves_out_is_not_there(tree: Path, tmp_path: Path) -> None:
    git(tree, "add", "-A")
    git(tree, "commit", "-qm", "all")
    git(tree, "sparse-checkout", "set", "--no-cone", "/*", "!/d")
    found = _listed(tree)
    assert not any(path.startswith("d/") for path in found.files)
    with Store.open(tmp_path / "state", ANALYSER) as store:
        before = finish(store.refresh(str(tree)))
        git(tree, "sparse-checkout", "disable")
        after = finish(store.refresh(str(tree)))
    assert len(after.corpus().files) > len(before.corpus().files)


def test_files_in_a_directory_that_is_a_link_now(tree: Path, tmp_path: Path) -> None:
    git(tree, "add", "-A")
    outside = tmp_path / "outside"
    (tree / "d").rename(outside)
    (tree / "d").symlink_to(outside)
    found = _listed(tree)
    assert [path for path in found.files if path.startswith("d")] == ["d"]


def test_an_unreadable_directory_is_counted(tree: Path, tmp_path: Path) -> None:
    if os.getuid() == 0:
        pytest.skip("nothing is unreadable for root")
    (tree / "d").chmod(0)
    try:
        with Store.open(tmp_path / "state", ANALYSER) as store:
            assert finish(store.refresh(str(tree))).skipped["unreadable"] == 1
            (tree / "d").chmod(0o700)
            assert "unreadable" not in finish(store.refresh(str(tree))).skipped
    finally:
        (tree / "d").chmod(0o700)


def test_too_many_files(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fabricd.store.context.listing.LARGEST", 3)
    with pytest.raises(TooMany):
        _listed(tree)
    shutil.rmtree(tree / ".git")
    with pytest.raises(TooMany):
        _listed(tree)


@pytest.mark.usefixtures("trusting")
def test_settings_of_git_count(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    found = _listed(tree)
    assert "s p.py" in found.files and found.is_current()
    write(tmp_path, ".config/git/ignore", "s*\n")
    assert not found.is_current()
    found = _listed(tree)
    assert "s p.py" not in found.files
    write(tmp_path, "mine", "d/\n")
    git(tree, "config", "core.excludesFile", "~/mine")
    assert not found.is_current()
    found = _listed(tree)
    assert "s p.py" in found.files and "d/e/g.py" not in found.files
    write(tree, ".git/info/exclude", "*.py\n")
    assert not found.is_current()


@pytest.mark.usefixtures("trusting")
def test_a_file_that_is_replaced_needs_no_new_listing(tree: Path) -> None:
    found = _listed(tree)
    write(tree, "new", "beta").replace(tree / "d/e/g.py")
    assert found.is_current()
    write(tree, "d/e/h.py", "")
    assert not found.is_current()


def test_the_same_at_any_place(tree: Path, tmp_path: Path) -> None:
    other = tmp_path / "else where" / "copy"
    shutil.copytree(tree, other, symlinks=True)
    write(tmp_path, "third/x.py", "alpha and more")
    with Store.open(tmp_path / "state", ANALYSER) as store:
        finish(store.refresh(str(tmp_path / "third")))
        assert picture(finish(store.refresh(str(tree)))) == picture(
            finish(store.refresh(str(other)))
        )


@pytest.mark.usefixtures("trusting")
def test_a_directory_of_ignored_files_alone_is_watched(tree: Path) -> None:
    write(tree, "only/in/a.log", "alpha")
    (tree / "empty/in").mkdir(parents=True)
    found = _listed(tree)
    assert found.is_current()
    write(tree, "only/in/a.py", "alpha")
    assert not found.is_current()
    found = _listed(tree)
    write(tree, "empty/in/a.py", "alpha")
    assert not found.is_current()
    assert {"only/in/a.py", "empty/in/a.py"} <= set(_listed(tree).files)


_PATTERN = st.sampled_from(
    "a /a a/ /a/ * *.py !a !*.py !a/ a/b a/* a/** **/b !/a/b **/a/** a/**/b.py b? [ab] [!a] \\!b "
    "#a !**/*.py */b ** **/ /** /* a** **b a/**b [a-c] [^b] [[:alpha:]] [ab a\\ []b] !* !** !/** "
    "? ??? !**/ *** a_b b_ b\\_ *.*y *b*p* **/**/b *?* *[.]*".split(" ")
).map(lambda pattern: pattern.replace("_", " "))
_RULES = st.lists(_PATTERN, max_size=4)


@settings(max_examples=25, deadline=None)
@given(top=_RULES, below=_RULES)
def test_any_rules_mean_what_they_mean_to_git(top: list[str], below: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = make_repository(Path(folder).resolve() / "tree")
        for name in ("a/b/a", "a/b.py", "a/c", "b/a/b.py", "b/b", "c.py", "a b", "!b", "d/a"):
            write(root, name, "")
        write(root, ".gitignore", "\n".join(top))
        write(root, "a/.gitignore", "\n".join(below))
        by_git = _listed(root)
        shutil.rmtree(root / ".git")
        assert _listed(root).files == by_git.files


def test_no_pattern_takes_long() -> None:
    started = time.monotonic()
    for pattern in ("*a" * 60 + "b", "/".join(["**/a"] * 60), "**/" * 60 + "*x*" * 20, "[a" * 500):
        assert verdict(patterns_of(pattern), "/".join(["a" * 120] * 30), False) in (None, True)
    assert time.monotonic() - started < 5


@pytest.mark.usefixtures("trusting")
def test_what_was_listed_without_git_is_listed_again(tree: Path, tmp_path: Path) -> None:
    write(tree, ".git/info/exclude", "g.py\n")
    write(tmp_path, "ignored", "s*\n")
    git(tree, "config", "core.excludesFile", str(tmp_path / "ignored"))
    sound = (tree / ".git/config").read_bytes()
    with Store.open(tmp_path / "state", ANALYSER) as store:
        for harm in (b"\n[oops\n", b"\n[core]\n\tbare = ghp_0123456789\n"):
            write(tree, ".git/config", sound + harm)
            write(tree, f"{len(harm)}.py", "alpha")
            snapshot = finish(store.refresh(str(tree)))
            (warning,) = snapshot.warnings
            assert warning == "git failed with exit code 128; listed without git"
            # What is excluded beside the tree's own rules stays so.
            assert "d/e/g.py" not in [file.path for file in snapshot.corpus().files]
            write(tree, ".git/config", sound)
            snapshot = finish(store.refresh(str(tree)))
            assert snapshot.warnings == ()
            assert "s p.py" not in [file.path for file in snapshot.corpus().files]


def test_a_path_in_what_git_keeps_means_the_tree(tree: Path, tmp_path: Path) -> None:
    for path in (".git", ".git/hooks", ".git/HEAD"):
        assert finish(Places().find(str(tree / path))) == finish(Places().find(str(tree)))
    git(tree, "add", "-A")
    git(tree, "commit", "-qm", "all")
    git(tree, "clone", "-q", "--bare", ".", str(tree / "bare.git"))
    for path in ("bare.git", "bare.git/objects"):
        with pytest.raises(NoRoot):
            finish(Places().find(str(tree / path)))
    with pytest.raises(NoRoot):
        finish(Places().find("a\0b"))


@pytest.mark.parametrize("path", [".gitignore", "d/e/.gitignore"])
def test_rules_that_are_a_pipe_hold_nobody_up(
    tree: Path, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fabricd.store.context.git.SECONDS", 1.0)
    (tree / path).unlink(missing_ok=True)
    os.mkfifo(tree / path)
    place = finish(Places().find(str(tree)))
    first = finish(listed(place))
    started = time.monotonic()
    second = finish(listed(place, first))
    assert time.monotonic() - started < 0.9
    assert second.files == first.files
    assert second.warnings == ("a .gitignore is no file; listed without git",)
    (tree / path).unlink()
    assert finish(listed(place, second)).warnings == ()


@pytest.mark.usefixtures("trusting")
def test_included_settings_count(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    write(tmp_path, "mine", "d/\n")
    write(tmp_path, ".gitconfig", "[include]\n\tpath = more\n")
    found = _listed(tree)
    assert "d/e/g.py" in found.files and found.is_current()
    # A file that was named before it was there.
    write(tmp_path, "more", "[include]\n\tpath = third\n")
    assert not found.is_current()
    assert _listed(tree).is_current()
    write(tmp_path, "third", "")
    found = _listed(tree)
    write(tmp_path, "third", f"[core]\n\texcludesFile = {tmp_path}/mine\n")
    assert not found.is_current()
    assert "d/e/g.py" not in _listed(tree).files


def test_names_that_are_no_text_are_told_as_text(tree: Path, tmp_path: Path) -> None:
    write(tree, ".gitignore", "build*\n")
    base = os.fsencode(tree)
    for name in (b"build\xff", b"build\xfe"):
        os.mkdir(base + b"/" + name)
        Path(os.fsdecode(base + b"/" + name + b"/x")).write_text("x")
    (tree / ".git").rename(tmp_path / "kept")
    os.rename(base, other := os.fsencode(tmp_path) + b"/p\xff")
    with Store.open(tmp_path / "state", ANALYSER) as store:
        snapshot = finish(store.refresh(os.fsdecode(other)))
        assert snapshot.ignored["build\ufffd"] == 2
        assert snapshot.root == f"{tmp_path}/p\ufffd"
        assert [kept.path for kept in store.kept()] == [snapshot.root]
        path = snapshot.corpus().files[0].path
        assert snapshot.reread((path,))[path].data is not None
        shutil.rmtree(os.fsdecode(other))
        assert store.forget(os.fsdecode(other)) == 1
