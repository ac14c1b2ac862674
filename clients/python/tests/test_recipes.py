"""Pages of `docs/recipes` that use this client. The tests of the service cover the other pages."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

from timenav.testing import Service

from .conftest import CLIENTS

RECIPES = CLIENTS.parent / "docs/recipes"


def test_workflow_commands_print_the_documented_output(tmp_path: Path) -> None:
    page = (RECIPES / "workflow-tests.md").read_text(encoding="utf-8")
    files = dict(re.findall(r"^```python (\S+)\n(.*?)^```", page, re.DOTALL | re.MULTILINE))
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (session,) = re.findall(r"^```console recipe\n\$ (.*?)\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    command, expected = session
    path = [str(Path(sys.executable).parent), str(Path(os.environ["TIMENAV_BIN"]).parent), os.environ["PATH"]]
    # No variables that name a service, as in a new shell.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TIMENAV_")}
    environment["PATH"] = os.pathsep.join(path)
    result = subprocess.run(
        ["bash", "-c", command], check=False, capture_output=True, text=True, cwd=tmp_path, env=environment
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.startswith(expected)


YEARS = """
import subprocess, time
import pytest

@pytest.mark.parametrize("year", range(2001, 2013))
def test_year(year):
    subprocess.run(["timenav", "clock", "travel", f"{year}-06-15T12:00:00Z"], check=True)
    while time.gmtime().tm_year != year:
        time.sleep(0.001)
    time.sleep(0.1)
    assert time.gmtime().tm_year == year
"""


def test_each_xdist_worker_has_its_own_clock(tmp_path: Path, service: Service) -> None:
    page = (RECIPES / "parallel-tests.md").read_text(encoding="utf-8")
    (script,) = re.findall(r"^```sh own-clock.sh\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    (python,) = re.findall(r"`(exec \./own-clock\.sh [^`]*)`", page)
    (command,) = re.findall(r"^\$ pytest (--dist .*)$", page, re.MULTILINE)
    for name, text in {"own-clock.sh": script, "own-python.sh": f"#!/bin/sh\n{python}\n"}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "test_years.py").write_text(YEARS, encoding="utf-8")
    path = [str(Path(sys.executable).parent), str(Path(os.environ["TIMENAV_BIN"]).parent), os.environ["PATH"]]
    environment = {
        **os.environ,
        "PATH": os.pathsep.join(path),
        "TIMENAV_URL": service.base_url,
        "TIMENAV_API_KEY": service.api_key,
    }
    started = subprocess.run(["timenav", "exec", "--", "true"], check=False, capture_output=True, env=environment)
    if started.returncode != 0:
        pytest.skip(f"programs cannot run on a virtual clock here: {started.stderr.decode()}")
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *shlex.split(command)]
    result = subprocess.run(tests, check=False, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert (result.returncode, "12 passed" in result.stdout) == (0, True), result.stdout + result.stderr
    with service.client() as client:
        for _ in range(1_000):
            # A worker's timeline may be ended slightly after the worker.
            listed = [timeline["timeline_id"] for timeline in client.timelines()["timelines"]]
            remaining = [name for name in listed if re.fullmatch(r"test-[0-9a-f]{16}", name)]
            if not remaining:
                break
            time.sleep(0.02)
    assert not remaining


# The oldest version that the page supports, and a newer one.
@pytest.mark.parametrize("version", ["1.29", "1.37"])
def test_manifests_match_the_kubernetes_schemas(version: str, tmp_path: Path) -> None:
    page = (RECIPES / "kubernetes-sidecar.md").read_text(encoding="utf-8")
    (sidecar,) = re.findall(r"^```yaml shop.yaml\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    files = [tmp_path / "shop.yaml", RECIPES.parents[1] / "deploy/kubernetes/timenav.yaml"]
    files[0].write_text(sidecar, encoding="utf-8")
    command = [sys.executable, "-m", "kubernetes_validate", "--strict", "-k", version, *map(str, files)]
    result = subprocess.run(command, check=False, capture_output=True, text=True)
    output = result.stdout + result.stderr
    assert (result.returncode, output.count(" passed for resource ")) == (0, 6), output
