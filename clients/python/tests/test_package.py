"""The installed package."""

import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1]
REPOSITORY = PACKAGE.parents[1]
GENERATED = ("schemas", "_error_codes", "_operations", "_sync_calls", "_async_calls")


@pytest.mark.parametrize("name", ["LICENSE-MIT", "LICENSE-APACHE"])
def test_package_contains_its_licenses(name: str) -> None:
    package = distribution("timenav")
    [installed] = [file for file in package.files or [] if file.name == name]
    assert installed.read_text() == (REPOSITORY / name).read_text()


def test_wheel_built_from_the_sdist_contains_the_generated_code(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "--directory", str(tmp_path), "--target"]
    subprocess.run([*build, "sdist"], cwd=PACKAGE, check=True)
    [sdist] = tmp_path.glob("*.tar.gz")
    shutil.unpack_archive(sdist, tmp_path)
    subprocess.run([*build, "wheel"], cwd=tmp_path / sdist.name.removesuffix(".tar.gz"), check=True)
    [wheel] = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as files:
        assert {f"timenav/{name}.py" for name in GENERATED} <= set(files.namelist())
