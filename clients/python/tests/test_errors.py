"""The classes of request errors, and the type of their codes."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

import timenav
from timenav import _errors, _request_clocks, baggage

from .conftest import CLIENTS
from .stub_server import StubServer

KEY = "tnk_000000000000000000000000000000000000"
ERRORS_PAGE = (CLIENTS.parent / "docs/errors.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("http_status", "kind"),
    [
        (302, timenav.ApiError),
        (400, timenav.BadRequestError),
        (401, timenav.AuthenticationError),
        (403, timenav.PermissionDeniedError),
        (404, timenav.NotFoundError),
        (405, timenav.ApiError),
        (409, timenav.ConflictError),
        (410, timenav.ApiError),
        (412, timenav.PreconditionFailedError),
        (422, timenav.UnprocessableEntityError),
        (429, timenav.RateLimitError),
        (500, timenav.ServerError),
        (503, timenav.ServerError),
    ],
)
def test_error_class_depends_on_the_status(http_status: int, kind: type[timenav.ApiError]) -> None:
    with (
        StubServer() as stub,
        timenav.Client(base_url=stub.url, api_key=KEY, retries=timenav.RetryPolicy(attempts=1)) as client,
    ):
        stub.responses = [(http_status, {})]
        with pytest.raises(timenav.ApiError) as raised:
            client.clock()
    assert type(raised.value) is kind
    assert raised.value.http_status == http_status


def test_unknown_timeline_raises_not_found(client: timenav.Client) -> None:
    with pytest.raises(timenav.NotFoundError) as raised:
        client.timeline("no-such-timeline")
    assert raised.value.code == "not_found"


def test_response_of_a_proxy_has_the_code_unexpected_response() -> None:
    error = _errors.api_error(502, "<html>Bad Gateway</html>", None, None)
    assert (type(error), error.code) == (timenav.ServerError, "unexpected_response")


def test_every_exception_name_ends_in_error() -> None:
    public = [*vars(timenav).values(), *vars(baggage).values(), *vars(_request_clocks).values()]
    kinds = {kind for kind in public if inspect.isclass(kind) and issubclass(kind, timenav.TimenavError)}
    assert len(kinds) >= 20
    assert [kind.__name__ for kind in kinds if not kind.__name__.endswith("Error")] == []


def test_error_code_type_lists_the_documented_codes() -> None:
    documented = re.findall(r'^\| <a id="[a-z_]+"></a>`([a-z_]+)` \|', ERRORS_PAGE, re.MULTILINE)
    assert get_args(timenav.ErrorCode) == (*documented, "unexpected_response")


TYPED = """
import timenav

def is_missing(error: timenav.ApiError) -> bool:
    return error.code == "{code}"
"""


@pytest.mark.parametrize(("code", "is_known"), [("not_found", True), ("not_fuond", False)])
def test_type_checker_rejects_misspelled_codes(code: str, is_known: bool, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(TYPED.format(code=code), encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "program.py"]
    result = subprocess.run(command, check=False, capture_output=True, text=True, cwd=tmp_path)
    assert (result.returncode == 0) is is_known, result.stdout + result.stderr
    assert is_known or "comparison-overlap" in result.stdout
