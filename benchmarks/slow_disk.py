"""A disk whose syncs take longer: the same benchmarks where the disk is the limit, not the CPU.

``python -m benchmarks --sync-ms 5 service`` runs everything once more in a process in which, and in
whose children, each ``fsync`` and ``fdatasync`` returns that much later. A few lines of C, compiled
on the spot and loaded before the C library (``LD_PRELOAD``), sleep after the sync itself: so the
bare disk, the bare service, ours and PostgreSQL are all delayed alike.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.live import commits, seconds

SETTING = "ASKWISE_BENCH_SYNC_MS"

_SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>

static struct timespec delay;
static int (*real_fsync)(int), (*real_fdatasync)(int);

__attribute__((constructor)) static void prepare(void)
{
    const char *set = getenv("ASKWISE_BENCH_SYNC_MS");
    double ms = set ? atof(set) : 0.0;
    delay.tv_sec = (time_t)(ms / 1e3);
    delay.tv_nsec = (long)((ms - 1e3 * (double)delay.tv_sec) * 1e6);
    real_fsync = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    real_fdatasync = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
}

static int after_a_while(int result)
{
    int error = errno;
    struct timespec left = delay;
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {}
    errno = error;
    return result;
}

int fsync(int file) { return after_a_while(real_fsync(file)); }
int fdatasync(int file) { return after_a_while(real_fdatasync(file)); }
"""


def delay() -> float:
    """Milliseconds by which syncs of this process are delayed."""
    return float(os.environ.get(SETTING, 0))


def run_again(milliseconds: float, arguments: list[str]) -> int:
    """Run the benchmarks with these arguments where syncs are delayed; returns the exit code."""
    if not sys.platform.startswith("linux"):
        sys.exit("--sync-ms needs Linux: syncs are delayed by a library that LD_PRELOAD names")
    compiler = shutil.which("cc")
    if compiler is None:
        sys.exit("--sync-ms needs a C compiler: there is no cc on the PATH")
    with tempfile.TemporaryDirectory(prefix="askwise-bench-") as folder:
        # PostgreSQL runs as another user, who has to be able to load it.
        Path(folder).chmod(0o755)
        source, library = Path(folder, "syncs.c"), Path(folder, "syncs.so")
        source.write_text(_SOURCE)
        built = subprocess.run(
            [compiler, "-O2", "-shared", "-fPIC", "-o", library, source, "-ldl"],
            capture_output=True,
            text=True,
            check=False,
        )
        if built.returncode:
            sys.exit(f"--sync-ms: {compiler} could not compile the library:\n{built.stderr}")
        loaded = os.environ.get("LD_PRELOAD", "").split()
        env = {
            **os.environ,
            "LD_PRELOAD": " ".join([str(library), *loaded]),
            SETTING: str(milliseconds),
        }
        command = [sys.executable, "-m", "benchmarks", *arguments]
        return subprocess.run(command, env=env, check=False).returncode


def describe() -> None:
    """In the process that was started again: print what a bare commit takes, if it is delayed."""
    with tempfile.TemporaryDirectory(prefix="askwise-bench-", dir=Path.cwd()) as folder:
        work = commits(Path(folder, "bare.sqlite"))
        seconds(work, 5, time.perf_counter)  # until the file has its first pages
        taken = seconds(work, 50, time.perf_counter)
    if 1e3 * taken < delay():
        sys.exit(
            f"--sync-ms: syncs are not delayed, a commit takes {1e3 * taken:.1f} ms: SQLite here "
            "does not call fsync or fdatasync of the C library"
        )
    print(
        f"each sync is delayed by {delay():g} ms: {1 / taken:.0f} bare commits a second, one row "
        "each"
    )
