"""Generates the types and calls of the API: python scripts/generate.py.

The sources are docs/api/openapi.json and, for error codes, docs/errors.md.
"""

from __future__ import annotations

import json
from pathlib import Path

from api_calls import calls, operations_table
from api_document import Document
from api_errors import error_codes
from api_schemas import schemas

FOLDER = Path(__file__).resolve().parents[1]
DOCUMENT = FOLDER.parents[1] / "docs/api/openapi.json"
ERRORS = FOLDER.parents[1] / "docs/errors.md"
TARGET = FOLDER / "src/timenav"


def main() -> None:
    """Writes the generated modules."""
    document = Document(json.loads(DOCUMENT.read_text(encoding="utf-8")))
    files = {
        "schemas.py": schemas(document),
        "_operations.py": operations_table(document),
        "_sync_calls.py": calls(document, is_async=False),
        "_error_codes.py": error_codes(ERRORS.read_text(encoding="utf-8")),
        "_async_calls.py": calls(document, is_async=True),
    }
    for name, text in files.items():
        (TARGET / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
