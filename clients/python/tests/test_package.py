"""The package as it is installed."""

from importlib.metadata import distribution
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("name", ["LICENSE-MIT", "LICENSE-APACHE"])
def test_it_has_the_licences_that_it_is_under(name: str) -> None:
    package = distribution("timenav")
    [installed] = [file for file in package.files or [] if file.name == name]
    assert installed.read_text() == (REPOSITORY / name).read_text()
