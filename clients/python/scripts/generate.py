"""Writes the types and calls of the API from docs/api/openapi.json.

python scripts/generate.py           writes schemas.py, _operations.py, _sync_calls.py and _async_calls.py
python scripts/generate.py --check   writes nothing, and fails where a file differs
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from api_calls import calls, operations_table
from api_document import Document
from api_schemas import schemas

FOLDER = Path(__file__).resolve().parents[1]
DOCUMENT = FOLDER.parents[1] / "docs/api/openapi.json"
TARGET = FOLDER / "src/timenav"


def formatted(text: str) -> str:
    """Returns the text as ruff formats it."""
    command = [sys.executable, "-m", "ruff", "format", "--quiet", "--stdin-filename", "generated.py", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, cwd=FOLDER, check=True)
    return done.stdout


def main() -> int:
    """Writes or compares the files."""
    document = Document(json.loads(DOCUMENT.read_text(encoding="utf-8")))
    files = {
        "schemas.py": schemas(document),
        "_operations.py": operations_table(document),
        "_sync_calls.py": calls(document, is_async=False),
        "_async_calls.py": calls(document, is_async=True),
    }
    differs = False
    for name, text in files.items():
        path, wanted = TARGET / name, formatted(text)
        if "--check" not in sys.argv:
            path.write_text(wanted, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != wanted:
            print(f"{path.name} is not what docs/api/openapi.json says; run scripts/generate.py", file=sys.stderr)
            differs = True
    return int(differs)


if __name__ == "__main__":
    raise SystemExit(main())
