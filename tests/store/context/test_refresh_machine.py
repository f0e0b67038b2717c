"""However a tree changes, its index is what a fresh one would be."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from fabricd.core.steps import finish
from fabricd.store.context.index import Store
from tests.store.context.trees import ANALYSER, git, make_repository, picture, write

_PATHS = ("a.py", "b.txt", "d/a.py", "d/e/c.py", "d/e/f.txt", "g/h.py", "x.log", ".env", "n.bin")
_PLACES = st.sampled_from(_PATHS)
_WORDS = st.lists(st.sampled_from(("red", "green", "blue", "red red", "\n")), max_size=6)
_RULES = st.sampled_from(("", "*.log\n", "d/\n", "g/\n*.txt\n", "!b.txt\n*.py\n"))


class Tree(RuleBasedStateMachine):
    """A tree that is edited in every way there is, and refreshed now and then."""

    def __init__(self) -> None:
        super().__init__()
        self.base = Path(tempfile.mkdtemp())
        self.root = self.base / "tree"
        self.store = Store.open(self.base / "state", ANALYSER)
        self.is_stale = True

    @initialize(is_git=st.booleans())
    def begin(self, is_git: bool) -> None:
        self.root.mkdir()
        self.is_git = is_git
        if is_git:
            make_repository(self.root)
        write(self.root, "a.py", "red green")

    def teardown(self) -> None:
        self.store.close()
        shutil.rmtree(self.base)

    @rule(path=_PLACES, words=_WORDS)
    def edit(self, path: str, words: list[str]) -> None:
        place = self.root / path
        for parent in [place, *place.parents]:
            if parent == self.root:
                break
            if parent.is_symlink() or (parent.is_file() and parent != place):
                parent.unlink()
        if place.is_dir():
            shutil.rmtree(place)
        write(self.root, path, " ".join(words))

    @rule(path=_PLACES)
    def edit_unseen(self, path: str) -> None:
        """The same size, and the same time of change as far as a program can set it."""
        place = self.root / path
        if place.is_file() and not place.is_symlink():
            before = place.stat()
            place.write_bytes(place.read_bytes()[::-1])
            os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))

    @rule(path=_PLACES, to=_PLACES)
    def rename(self, path: str, to: str) -> None:
        if os.path.lexists(self.root / path) and (self.root / to).parent.is_dir():
            if not (self.root / to).is_dir() and not (self.root / path).is_dir():
                os.replace(self.root / path, self.root / to)

    @rule(path=_PLACES)
    def delete(self, path: str) -> None:
        (self.root / path).unlink() if os.path.lexists(self.root / path) else None

    @rule(path=st.sampled_from(("d", "d/e", "g")), kind=st.sampled_from(("file", "link", "none")))
    def replace_directory(self, path: str, kind: str) -> None:
        place = self.root / path
        if not place.parent.is_dir() or place.parent.is_symlink():
            return
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        elif os.path.lexists(place):
            place.unlink()
        elsewhere = self.base / "elsewhere"
        write(elsewhere, "a.py", "secret of another tree")
        match kind:
            case "file":
                place.write_text("red")
            case "link":
                place.symlink_to(elsewhere)
            case _:
                pass

    @rule(path=_PLACES)
    def swap_for_link(self, path: str) -> None:
        place = self.root / path
        if place.is_file():
            place.unlink()
            place.symlink_to(write(self.base, "outside.py", "secret"))

    @rule(path=_PLACES, mode=st.sampled_from((0o600, 0o644, 0o755)))
    def chmod(self, path: str, mode: int) -> None:
        if (self.root / path).is_file() and not (self.root / path).is_symlink():
            (self.root / path).chmod(mode)

    @rule(place=st.sampled_from(("", "d/")), rules=_RULES)
    def ignore(self, place: str, rules: str) -> None:
        if not place or ((self.root / "d").is_dir() and not (self.root / "d").is_symlink()):
            write(self.root, f"{place}.gitignore", rules)

    @rule(is_there=st.booleans())
    def nest(self, is_there: bool) -> None:
        nested = self.root / "nested"
        if is_there and not nested.exists():
            write(self.root, "nested/in.py", "blue blue")
            git(make_repository(nested), "add", "-A")
        elif not is_there and (nested / ".git").exists():
            shutil.rmtree(nested / ".git")

    @precondition(lambda self: self.is_git)
    @rule(path=st.sampled_from(("-A", "a.py", "d")), force=st.booleans())
    def add(self, path: str, force: bool) -> None:
        words = ("add", *(("-f",) if force else ()), path)
        self._try(*words)

    @precondition(lambda self: self.is_git)
    @rule(branch=st.sampled_from(("main", "other")))
    def commit_and_switch(self, branch: str) -> None:
        self._try("add", "-A")
        self._try("commit", "-qm", "more red")
        self._try("checkout", "-q", branch)
        self._try("checkout", "-qb", branch)

    @precondition(lambda self: self.is_git)
    @rule()
    def forget_file(self) -> None:
        self._try("rm", "-rq", "--cached", "a.py")

    @rule()
    def refresh(self) -> None:
        finish(self.store.refresh(str(self.root)))

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = Store.open(self.base / "state", ANALYSER)

    @invariant()
    def is_as_fresh(self) -> None:
        if not self.root.is_dir():
            return
        found = picture(finish(self.store.refresh(str(self.root))))
        with Store.open(self.base / "fresh", ANALYSER) as fresh:
            fresh.forget()
            expected = picture(finish(fresh.refresh(str(self.root))))
        assert found == expected
        assert not any("secret" in word for word in found.words)

    def _try(self, *words: str) -> None:
        try:
            git(self.root, *words)
        except Exception:
            pass


TestTree = Tree.TestCase
TestTree.settings = settings(max_examples=5, stateful_step_count=12, deadline=None)
