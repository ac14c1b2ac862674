"""Generates the Python type of error codes."""

from __future__ import annotations

import re

HEADER = '''"""Error codes.

Written by scripts/generate.py from docs/errors.md. Do not edit it.
"""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypeAlias

'''
OWN_CODES = ("unexpected_response",)
"""Codes that the client assigns to responses that do not come from the service."""


def error_codes(page: str) -> str:
    """Returns the module. Each row of the table in docs/errors.md is a code."""
    codes = re.findall(r'^\| <a id="[a-z_]+"></a>`([a-z_]+)` \|', page, re.MULTILINE)
    if not codes:
        raise SystemExit("docs/errors.md has no table of codes")
    rows = "".join(f'    "{code}",\n' for code in (*codes, *OWN_CODES))
    text = f'{HEADER}ErrorCode: TypeAlias = Literal[\n{rows}]\n"""The values of `ApiError.code`."""\n'
    return text + '\n__all__ = ["ErrorCode"]\n'
