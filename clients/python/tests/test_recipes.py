"""Pages of `docs/recipes` that need this client. Other pages are tested with the service."""

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
    (typed,) = re.findall(r"^```console recipe\n\$ (.*?)\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    command, expected = typed
    path = [str(Path(sys.executable).parent), str(Path(os.environ["TIMENAV_BIN"]).parent), os.environ["PATH"]]
    # Like a new shell, without variables that name a service.
    known = {name: value for name, value in os.environ.items() if not name.startswith("TIMENAV_")}
    known["PATH"] = os.pathsep.join(path)
    done = subprocess.run(["bash", "-c", command], check=False, capture_output=True, text=True, cwd=tmp_path, env=known)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith(expected)


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


def test_each_xdist_worker_has_a_clock(tmp_path: Path, service: Service) -> None:
    page = (RECIPES / "parallel-tests.md").read_text(encoding="utf-8")
    (script,) = re.findall(r"^```sh own-clock.sh\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    (python,) = re.findall(r"`(exec \./own-clock\.sh [^`]*)`", page)
    (command,) = re.findall(r"^\$ pytest (--dist .*)$", page, re.MULTILINE)
    for name, text in {"own-clock.sh": script, "own-python.sh": f"#!/bin/sh\n{python}\n"}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "test_years.py").write_text(YEARS, encoding="utf-8")
    found = [str(Path(sys.executable).parent), str(Path(os.environ["TIMENAV_BIN"]).parent), os.environ["PATH"]]
    known = {
        **os.environ,
        "PATH": os.pathsep.join(found),
        "TIMENAV_URL": service.base_url,
        "TIMENAV_API_KEY": service.api_key,
    }
    started = subprocess.run(["timenav", "exec", "--", "true"], check=False, capture_output=True, env=known)
    if started.returncode != 0:
        pytest.skip(f"programs cannot run on a virtual clock here: {started.stderr.decode()}")
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *shlex.split(command)]
    done = subprocess.run(tests, check=False, capture_output=True, text=True, cwd=tmp_path, env=known)
    assert (done.returncode, "12 passed" in done.stdout) == (0, True), done.stdout + done.stderr
    with service.client() as client:
        for _ in range(1_000):
            # The process that ends a worker's timeline may outlive the process that waited for the worker.
            listed = [timeline["timeline_id"] for timeline in client.timelines()["timelines"]]
            left = [name for name in listed if re.fullmatch(r"test-[0-9a-f]{16}", name)]
            if not left:
                break
            time.sleep(0.02)
    assert not left


# The oldest version that the page supports, and a newer one.
@pytest.mark.parametrize("version", ["1.29", "1.37"])
def test_manifests_match_the_kubernetes_schemas(version: str, tmp_path: Path) -> None:
    page = (RECIPES / "kubernetes-sidecar.md").read_text(encoding="utf-8")
    (sidecar,) = re.findall(r"^```yaml shop.yaml\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    files = [tmp_path / "shop.yaml", RECIPES.parents[1] / "deploy/kubernetes/timenav.yaml"]
    files[0].write_text(sidecar, encoding="utf-8")
    command = [sys.executable, "-m", "kubernetes_validate", "--strict", "-k", version, *map(str, files)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    output = done.stdout + done.stderr
    assert (done.returncode, output.count(" passed for resource ")) == (0, 6), output
