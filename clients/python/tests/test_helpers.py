"""What tests of others use: the fixtures, the adapter, and the examples of the README."""

from __future__ import annotations

import logging
import re
import subprocess
import sys
import time
import uuid
from datetime import date, datetime, timezone
from importlib import metadata
from pathlib import Path

import pytest

import timenav
from timenav.adapters.time_machine import follow
from timenav.testing import Service, TestClock

from .conftest import CLIENTS

README = (CLIENTS / "python/README.md").read_text(encoding="utf-8")


@pytest.fixture
def clock(client: timenav.Client, timeline: str) -> object:
    with client.virtual_clock(timeline, lost_after=0.1) as clock:
        yield TestClock(client, clock, timeline)


def test_the_time_of_the_program_follows_the_clock(clock: TestClock) -> None:
    clock.pause()
    clock.travel("2028-02-29T09:00:00.25Z")
    with follow(clock.clock):
        assert datetime.now(timezone.utc) == datetime(2028, 2, 29, 9, 0, 0, 250_000, timezone.utc)
        assert (date.today(), time.time()) == (date(2028, 2, 29), 1_835_427_600.25)
        later = uuid.uuid1()
        clock.rewind("2d")
        assert date.today() == date(2028, 2, 27)
        assert uuid.uuid1().time < later.time
        clock.set_rate(100_000)
        clock.resume()
        first = time.time()
        time.sleep(0.02)
        assert time.time() - first > 1_000
    assert time.time() < 1_835_000_000


def test_the_time_of_the_program_is_refused_where_the_clock_is(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with (
        Service() as service,
        service.client() as client,
        client.virtual_clock(lost_after=0.05) as clock,
        follow(clock),
    ):
        service.kill()
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            try:
                time.time()
            except timenav.ClockStale:
                break
        else:
            pytest.fail("the time was shown although nobody vouched for it")
        # What keeps the clock current goes on meanwhile, its log too.
        assert clock.thread.is_alive()


SUITE = """
    import datetime
    import time

    def test_travels(timenav_clock):
        timenav_clock.pause()
        timenav_clock.travel("2028-02-29T09:00:00Z")
        assert str(timenav_clock.now()) == "2028-02-29T09:00:00Z"

    def test_has_a_clock_of_its_own(timenav_clock):
        assert timenav_clock.now().datetime().year < 2028
        assert timenav_clock.timeline_id.startswith("pytest-test-has-a-clock-of-its-own-")

    def test_time_follows(timenav_time):
        timenav_time.travel("1999-12-31T23:59:59Z")
        assert datetime.date.today().year in (1999, 2000)
"""


def test_each_test_has_a_clock_of_its_own(
    pytester: pytest.Pytester, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makepyfile(SUITE)
    monkeypatch.setenv("TIMENAV_URL", service.url)
    monkeypatch.setenv("TIMENAV_API_KEY", service.key)
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=3)
    with service.client() as client:
        left = [one["timeline_id"] for one in client.timelines(limit=1000)["timelines"]]
    assert not [name for name in left if name.startswith("pytest-")]


def test_a_service_is_started_for_who_asks(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytester.makepyfile(SUITE)
    monkeypatch.delenv("TIMENAV_URL", raising=False)
    pytester.runpytest_subprocess("--timenav-start").assert_outcomes(passed=3)
    pytester.makeini("[pytest]\ntimenav_start = true\n")
    pytester.runpytest_subprocess().assert_outcomes(passed=3)


def test_nothing_is_started_unasked(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytester.makepyfile(SUITE)
    monkeypatch.delenv("TIMENAV_URL", raising=False)
    done = pytester.runpytest_subprocess()
    done.assert_outcomes(errors=3)
    done.stdout.fnmatch_lines(["*TIMENAV_URL*--timenav-start*"])


@pytest.mark.parametrize("example", re.findall(r"```python\n(.*?)```", README, re.DOTALL))
def test_an_example_of_the_readme_runs_word_for_word(example: str, service: Service, tmp_path: Path) -> None:
    environment = {"TIMENAV_URL": service.url, "TIMENAV_API_KEY": service.key, "PATH": ""}
    command = [sys.executable, "-W", "error"]
    if "def test_" in example:
        (tmp_path / "test_example.py").write_text(example, encoding="utf-8")
        command += ["-m", "pytest", "-q", str(tmp_path)]
    else:
        assert len(example.splitlines()) <= 12
        command += ["-c", example]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    told = re.findall(r"# => (.*)", example)
    assert [line for line in told if line not in done.stdout] == []


def test_the_package_says_that_it_is_typed() -> None:
    assert metadata.version("timenav") == timenav.__version__
    assert (Path(timenav.__file__).parent / "py.typed").exists()
