"""Builds the wheel of this repository, and finds what its installation needs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests import house

LOCK = house.ROOT / "requirements.lock"
# A line of the lock: name==version, and perhaps a condition.
LOCKED = re.compile(r"^[a-z0-9._-]+==[^\\\n]+?(?= ?\\?$)", re.MULTILINE)


def pip(*words: str) -> None:
    """Run pip. Raises CalledProcessError."""
    subprocess.run([sys.executable, "-m", "pip", "--quiet", *words], cwd=house.ROOT, check=True)


def build(folder: Path) -> Path:
    """Build the wheel with the packages that are here: nothing is downloaded."""
    pip("wheel", ".", "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", str(folder))
    [wheel] = folder.glob("toolsupport-*.whl")
    return wheel


def fill(folder: Path) -> None:
    """Build the wheel as its reader would, and add the wheels of all that it needs, in the versions of the lock."""
    pip("wheel", ".", "--no-deps", "--wheel-dir", str(folder))
    [wheel] = folder.glob("toolsupport-*.whl")
    constraints = folder / "constraints.txt"
    constraints.write_text("\n".join(LOCKED.findall(LOCK.read_text())))
    pip("wheel", str(wheel), "--constraint", str(constraints), "--wheel-dir", str(folder))


def bare(home: Path, **more: str) -> dict[str, str]:
    """The environment of a person who has set nothing."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return {**kept, "HOME": str(home), **more}
