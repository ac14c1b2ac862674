"""The pytest fixtures, the time-machine adapter, and the examples of the README."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import pytest

import timenav
from timenav.testing import Service

from .conftest import CLIENTS

README = (CLIENTS / "python/README.md").read_text(encoding="utf-8")


HAS_TIME_MACHINE = find_spec("time_machine") is not None

IMPORTS = """
import sys
from importlib.metadata import entry_points

[plugin] = entry_points(group="pytest11", name="timenav")
plugin.load()
print(sorted({"httpx", "timenav"} & set(sys.modules)))
"""


def test_plugin_imports_neither_timenav_nor_httpx() -> None:
    result = subprocess.run([sys.executable, "-c", IMPORTS], check=False, capture_output=True, text=True)
    assert (result.stdout.strip(), result.stderr) == ("[]", "")


SUITE = """
    def test_travels(timenav_clock):
        timenav_clock.pause()
        timenav_clock.travel("2028-02-29T09:00:00Z")
        assert str(timenav_clock.now()) == "2028-02-29T09:00:00Z"

    def test_has_its_own_clock(timenav_clock):
        assert timenav_clock.now().datetime().year < 2028
        assert timenav_clock.timeline_id.startswith("pytest-test-has-its-own-clock-")
"""
TIME_SUITE = """
    import datetime

    def test_time_follows(timenav_time):
        timenav_time.travel("1999-12-31T23:59:59Z")
        assert datetime.date.today().year in (1999, 2000)
"""


TEST_COUNT = 3 if HAS_TIME_MACHINE else 2


def write_suite(pytester: pytest.Pytester) -> None:
    """Writes tests that use the fixtures, including `timenav_time` if time-machine is installed."""
    pytester.makepyfile(test_clock=SUITE, **({"test_time": TIME_SUITE} if HAS_TIME_MACHINE else {}))


def test_each_test_has_its_own_clock(
    pytester: pytest.Pytester, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_suite(pytester)
    monkeypatch.setenv("TIMENAV_URL", service.base_url)
    monkeypatch.setenv("TIMENAV_API_KEY", service.api_key)
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=TEST_COUNT)
    with service.client() as client:
        remaining = [timeline["timeline_id"] for timeline in client.timelines(limit=1000)["timelines"]]
    assert not [name for name in remaining if name.startswith("pytest-")]


def test_service_is_started_if_configured(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    write_suite(pytester)
    monkeypatch.delenv("TIMENAV_URL", raising=False)
    pytester.runpytest_subprocess("--timenav-start").assert_outcomes(passed=TEST_COUNT)
    pytester.makeini("[pytest]\ntimenav_start = true\n")
    pytester.runpytest_subprocess().assert_outcomes(passed=TEST_COUNT)


def test_service_is_not_started_by_default(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    write_suite(pytester)
    monkeypatch.delenv("TIMENAV_URL", raising=False)
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(errors=TEST_COUNT)
    result.stdout.fnmatch_lines(["*TIMENAV_URL*--timenav-start*"])


FAILING = """
    import threading

    def arm(clock, handler):
        clock.pause()
        clock.travel("2028-02-29T09:00:00Z")
        clock.client.set_timer(at="2028-03-01T09:00:00Z", timeline_id=clock.timeline_id)
        return clock.on("default", handler)

    def fails(firing):
        assert firing.attempt == 0

    def test_advance(timenav_clock):
        with arm(timenav_clock, fails):
            timenav_clock.advance("P1M")

    def test_jump(timenav_clock):
        called = threading.Event()

        def handler(firing):
            called.set()
            fails(firing)

        with arm(timenav_clock, handler):
            timeline = timenav_clock.timeline_id
            timenav_clock.client.fast_forward(duration="P1M", wait_for_timers=False, timeline_id=timeline)
            assert called.wait(60)

    def test_allowed_failure(timenav_clock):
        with arm(timenav_clock, fails):
            assert timenav_clock.advance("P1M", allow_failed_firings=True).failed == 1

    def test_second_attempt(timenav_clock):
        def handler(firing):
            assert firing.attempt == 2

        with arm(timenav_clock, handler):
            assert timenav_clock.advance("P1M").acknowledged == 1
"""


def test_failed_handler_fails_its_test(
    pytester: pytest.Pytester, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makepyfile(FAILING)
    monkeypatch.setenv("TIMENAV_URL", service.base_url)
    monkeypatch.setenv("TIMENAV_API_KEY", service.api_key)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    # The move in `test_jump` does not wait for the handler, so the test passes, and the fixture reports the failure.
    result.assert_outcomes(passed=3, failed=1, errors=1)
    result.stdout.fnmatch_lines(["*assert 1 == 0*", "FAILED *::test_advance - *", "ERROR *::test_jump - *"])


@pytest.mark.parametrize("example", re.findall(r"```python\n(.*?)```", README, re.DOTALL))
def test_readme_example_prints_the_documented_output(example: str, service: Service, tmp_path: Path) -> None:
    if "timenav_time" in example and not HAS_TIME_MACHINE:
        pytest.skip("time-machine is not installed")
    environment = {"TIMENAV_URL": service.base_url, "TIMENAV_API_KEY": service.api_key, "PATH": ""}
    command = [sys.executable, "-W", "error"]
    if "def test_" in example:
        (tmp_path / "test_example.py").write_text(example, encoding="utf-8")
        command += ["-m", "pytest", "-q", str(tmp_path)]
    else:
        assert len(example.splitlines()) <= 12
        command += ["-c", example]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    expected = re.findall(r"# => (.*)", example)
    assert [line for line in expected if line not in result.stdout] == []


def test_package_has_type_marker() -> None:
    assert metadata.version("timenav") == timenav.__version__
    assert (Path(timenav.__file__).parent / "py.typed").exists()
