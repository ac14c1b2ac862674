"""Pages of `docs/recipes` that need this client. The others are run beside the service."""

from __future__ import annotations

import re

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
