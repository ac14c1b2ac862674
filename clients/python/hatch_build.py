"""Build hook that generates the types and calls of the API."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class GeneratedCode(BuildHookInterface[Any]):
    """Runs scripts/generate.py."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - the interface of hatchling
        """Generates the code. In an sdist, which contains the generated code but no generator, it does nothing."""
        generator = Path(self.root, "scripts/generate.py")
        if generator.exists():
            subprocess.run([sys.executable, str(generator)], check=True)
