"""Pages of `docs/recipes` that need this client. The others are run beside the service."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from timenav.testing import Service

from .conftest import CLIENTS

RECIPES = CLIENTS.parent / "docs/recipes"


def test_long_workflows(pytester: pytest.Pytester, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (RECIPES / "workflow-tests.md").read_text(encoding="utf-8")
    files = dict(re.findall(r"^```python (\S+)\n(.*?)^```", page, re.DOTALL | re.MULTILINE))
    for name, text in files.items():
        (pytester.path / name).write_text(text, encoding="utf-8")
    monkeypatch.setenv("TIMENAV_URL", service.url)
    monkeypatch.setenv("TIMENAV_API_KEY", service.key)
    tests = sum(text.count("\ndef test_") for text in files.values())
    assert tests == 5
    pytester.runpytest_subprocess("-q", "-p", "no:cacheprovider").assert_outcomes(passed=tests)


# The oldest version that the page says it needs, and one that is newer.
@pytest.mark.parametrize("version", ["1.29", "1.37"])
def test_kubernetes_knows_every_field_of_the_manifests(version: str, tmp_path: Path) -> None:
    page = (RECIPES / "kubernetes-sidecar.md").read_text(encoding="utf-8")
    (sidecar,) = re.findall(r"^```yaml shop.yaml\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    files = [tmp_path / "shop.yaml", RECIPES.parents[1] / "deploy/kubernetes/timenav.yaml"]
    files[0].write_text(sidecar, encoding="utf-8")
    command = [sys.executable, "-m", "kubernetes_validate", "--strict", "-k", version, *map(str, files)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    told = done.stdout + done.stderr
    assert (done.returncode, told.count(" passed for resource ")) == (0, 6), told
