"""Generates the types and calls of the API before the package is built."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class GeneratedCode(BuildHookInterface[Any]):
    """Runs scripts/generate.py."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - hatchling gives them
        """Generates the code. An sdist contains the result instead of the generator."""
        generator = Path(self.root, "scripts/generate.py")
        if generator.exists():
            subprocess.run([sys.executable, str(generator)], check=True)
