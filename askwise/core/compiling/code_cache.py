"""Where compiled code is kept on disk."""

import hashlib
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2]
_WITH_KERNELS = ("core", "kernels", "ledger", "policies", "stopping", "aggregation", "lab")


def _sources_digest() -> str:
    digest = hashlib.sha256()
    for room in _WITH_KERNELS:
        for path in sorted((PACKAGE / room).rglob("*.py")):
            source = path.read_bytes()
            # Most of the lab has none, and what its kernels use is in the other rooms.
            if room != "lab" or b"compiling" in source or b"askwise.kernels" in source:
                digest.update(path.relative_to(PACKAGE).as_posix().encode())
                digest.update(source)
    return digest.hexdigest()[:16]


@cache
def kept_in() -> str:
    """The directory in which this process keeps compiled code."""
    return os.environ.get("NUMBA_CACHE_DIR") or cache_directory()


def preferred_directory() -> Path:
    """Keyed by our sources: Numba does not notice when a callee in another module changes."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "askwise" / "kernels" / _sources_digest()


def cache_directory() -> str:
    """The preferred directory, made; one among temporary files where that can't be written."""
    directory = preferred_directory()
    try:
        directory.mkdir(parents=True, exist_ok=True)
        writable = os.access(directory, os.W_OK)
    except OSError:
        writable = False
    if writable:
        return str(directory)
    ours = Path(tempfile.gettempdir()) / f"askwise-kernels-{os.getuid()}" / directory.name
    ours.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if directory.is_dir() and not ours.exists():
        # Numba reads no cache that it can't write to, such as one built into an image.
        copy = Path(tempfile.mkdtemp(dir=ours.parent))
        shutil.copytree(directory, copy, dirs_exist_ok=True)
        try:
            copy.rename(ours)
        except OSError:  # another process was first
            shutil.rmtree(copy)
    ours.mkdir(exist_ok=True, mode=0o700)
    return str(ours)
