"""sdist → wheel → install → `fabricd --version`, and the wheel holds exactly the tree's modules.

Run as a script by `make package`: it builds in a temporary folder and needs no network.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("core", "daemon", "store", "ipc", "systemd", "surfaces")
MANUAL = "share/man/man1/fabricd.1"


def _run(*command: str, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


def _expected() -> set[str]:
    names = {f"fabricd/{name}" for name in ("__init__.py", "__main__.py", "py.typed")}
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                names.add(f"fabricd/{path.relative_to(ROOT)}")
    return names


def main() -> int:
    """Build, compare, install, run."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        _run(
            sys.executable, "-m", "build", "--no-isolation", "--sdist", "-o", folder, ".", cwd=ROOT
        )
        sdist = next(out.glob("*.tar.gz"))
        with tarfile.open(sdist) as archive:
            # Python before 3.11.4 has no extraction filters; the archive is our own.
            if hasattr(tarfile, "data_filter"):
                archive.extractall(out, filter="data")
            else:
                archive.extractall(out)
        tree = sdist.with_name(sdist.name.removesuffix(".tar.gz"))
        _run(
            sys.executable, "-m", "build", "--no-isolation", "--wheel", "-o", folder, ".", cwd=tree
        )
        wheel = next(out.glob("*.whl"))
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
            found = {name for name in names if name.startswith("fabricd/")}
        if found != _expected():
            print("missing from the wheel:", sorted(_expected() - found))
            print("only in the wheel:", sorted(found - _expected()))
            return 1
        outside = {name.partition("/")[2] for name in names if name not in found}
        if {name for name in outside if name.startswith("data/")} != {f"data/{MANUAL}"}:
            print("unexpected beside the package:", sorted(outside))
            return 1
        venv.create(out / "venv", with_pip=True)
        python = str(out / "venv" / "bin" / "python")
        _run(python, "-m", "pip", "install", "-q", "--no-deps", str(wheel), cwd=out)
        # The dependencies are those of this environment: installing them again proves nothing.
        site = _run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=out)
        here = next(path for path in sys.path if path.endswith("site-packages"))
        (Path(site) / "dependencies.pth").write_text(here + "\n")
        version = _run(str(out / "venv" / "bin" / "fabricd"), "--version", cwd=out)
        where = _run(python, "-c", "import fabricd; print(fabricd.__file__)", cwd=out)
        if not version.startswith("fabricd ") or str(out / "venv") not in where:
            print(f"unexpected: {version!r} from {where}")
            return 1
        if (out / "venv" / MANUAL).read_bytes() != (ROOT / "docs" / "fabricd.1").read_bytes():
            print(f"{MANUAL} is not the manual page of the tree")
            return 1
        print(f"package ok: {version}, {len(found)} files")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
