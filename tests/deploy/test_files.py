"""What lies in deploy/ fits the program: commands, options, files."""

from __future__ import annotations

import configparser
import re
import shlex

import pytest
import typer
import yaml

from askwise.cli.app import app
from askwise.service.api.description import PUBLIC
from askwise.service.signals import GRACE
from tests.paths import ROOT

DEPLOY = ROOT / "deploy"


def check_command(words: list[str]) -> None:
    """Complain about a command or an option that askwise does not have."""
    command = typer.main.get_command(app).commands[words[0]]  # type: ignore[attr-defined]
    known = {option for each in command.params for option in each.opts}
    for word in words[1:]:
        if word.startswith("--"):
            assert word.partition("=")[0] in known, word


def unit(name: str) -> configparser.RawConfigParser:
    parser = configparser.RawConfigParser(strict=False)
    text = (DEPLOY / name).read_text().replace("\\\n", " ")
    parser.read_string(text)
    return parser


def test_the_containers_run_commands_that_there_are() -> None:
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    check_command(services["askwise"]["command"])
    assert services["askwise"]["environment"]["ASKWISE_STORE"].startswith("postgresql://")
    assert set(services["askwise"]["depends_on"]) <= set(services)
    image = (DEPLOY / "Dockerfile").read_text()
    for copied in re.findall(r"^COPY (?!--from)(.+) \S+$", image, re.M):
        for name in copied.split():
            assert (ROOT / name).exists(), name
    check_command(eval(re.findall(r"^CMD (\[.+\])$", image, re.M)[0]))
    for line in re.findall(r"^RUN askwise (.+)$", image, re.M):
        check_command(shlex.split(line))


def test_the_pods_run_commands_that_there_are_as_the_user_of_the_image() -> None:
    parts = list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text()))
    by_kind = {part["kind"]: part for part in parts}
    assert set(by_kind) == {"Deployment", "Service", "PodDisruptionBudget", "Ingress"}
    template = by_kind["Deployment"]["spec"]["template"]
    for kind in ("Service", "PodDisruptionBudget", "Deployment"):
        chosen = by_kind[kind]["spec"]["selector"]
        assert chosen.get("matchLabels", chosen) == template["metadata"]["labels"]
    (container,) = template["spec"]["containers"]
    check_command(container["args"])
    user = template["spec"]["securityContext"]["runAsUser"]
    assert f"--uid {user} " in (DEPLOY / "Dockerfile").read_text()
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert container[probe]["httpGet"]["path"] in PUBLIC
    assert template["spec"]["terminationGracePeriodSeconds"] > GRACE
    (mount,) = container["volumeMounts"]
    assert mount["mountPath"] == "/tmp"
    host = by_kind["Ingress"]["spec"]["rules"][0]["host"]
    assert f"--address=https://{host}" in container["args"]


def test_the_service_reads_the_kernels_that_were_compiled_for_it() -> None:
    image = (DEPLOY / "Dockerfile").read_text()
    where = re.findall(r"XDG_CACHE_HOME=(\S+)", image)
    assert where == re.findall(r"XDG_CACHE_HOME=(\S+)", (DEPLOY / "askwise.service").read_text())
    # Not this: a directory that is not keyed by our sources outlives what it was compiled from.
    for name in ("Dockerfile", "compose.yaml", "askwise.service"):
        assert "NUMBA_CACHE_DIR" not in (DEPLOY / name).read_text()
    assert image.index("XDG_CACHE_HOME") < image.index("RUN askwise warm") < image.index("USER ")
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    assert "/tmp" in services["askwise"]["tmpfs"]


@pytest.mark.parametrize("name", ["askwise.service", "askwise-backup.service"])
def test_the_units_run_commands_that_there_are(name: str) -> None:
    section = unit(name)["Service"]
    for key in ("ExecStartPre", "ExecStart"):
        line = section.get(key.lower())
        if line is not None:
            found = re.search(r"/opt/askwise/bin/askwise (.+)", line)
            assert found is not None
            check_command(shlex.split(found[1].rstrip("'")))


def test_the_timer_starts_the_backup() -> None:
    assert (DEPLOY / "askwise-backup.timer").exists()
    assert unit("askwise-backup.timer")["Timer"]["oncalendar"]


def test_the_lock_for_serving_is_part_of_the_whole_one() -> None:
    def pins(name: str) -> set[str]:
        return set(re.findall(r"^([\w.-]+==[^ ;\\]+)", (ROOT / name).read_text(), re.M))

    serving = pins("requirements-serve.lock")
    assert {each.split("==")[0] for each in serving} >= {"starlette", "uvicorn", "psycopg", "numba"}
    assert serving <= pins("requirements.lock")
