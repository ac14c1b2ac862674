"""The calls and types of the client match the OpenAPI document."""

from __future__ import annotations

import inspect
import json
from typing import Any

import pytest

import timenav
from timenav import schemas
from timenav.testing import Service

from .conftest import CLIENTS

DOCUMENT: dict[str, Any] = json.loads((CLIENTS.parent / "docs/api/openapi.json").read_text(encoding="utf-8"))
SCHEMAS: dict[str, Any] = DOCUMENT["components"]["schemas"]
OPERATIONS = [
    {**operation, "path": path, "method": method}
    for path, item in DOCUMENT["paths"].items()
    for method, operation in item.items()
]
IDS = [operation["operationId"] for operation in OPERATIONS]
# Examples of inputs that have none in the document. The ids need not exist, because the service only has to parse the
# call.
EXAMPLES: dict[str, Any] = {
    "advance_id": "advance_01m7vsgh52ewg8wycc4r8s9czz",
    "anchor_id": "anchor_01m7vsgh52ewg8wycc4r8s9czz",
    "data": {"a": 1},
    "data_id": "data_01m7vsgh52ewg8wycc4r8s9czz",
    "encryption_key": "a passphrase",
    "event": {"event_id": "no-such-event", "time": "2028-02-29T09:00:00Z", "description": "A leap day"},
    "event_id": "no-such-event",
    "fault": {"offset": "2s"},
    "firing_id": "firing_01m7vsgh52ewg8wycc4r8s9czz",
    "firing_ids": ["firing_01m7vsgh52ewg8wycc4r8s9czz"],
    "follower_id": "follower_01m7vsgh52ewg8wycc4r8s9czz",
    "index": 1,
    "hold_id": "hold_01m7vsgh52ewg8wycc4r8s9czz",
    "key_id": "key_01m7vsgh52ewg8wycc4r8s9czz",
    "password": "correct horse battery",
    "permissions": {"read": ["alice"]},
    "position": 0,
    "queue": "default",
    "session_id": "session_01m7vsgh52ewg8wycc4r8s9czz",
    "tile": "0/000",
    "timeline_id": "what-if",
    "timer_id": "no-such-timer",
    "user_id": "no-such-user",
}
# Error codes of a request that the client encoded incorrectly.
ENCODING_ERRORS = {
    "unknown_parameter",
    "missing_parameter",
    "malformed_json",
    "unsupported_media_type",
    "method_not_allowed",
}


def members(schema: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        schema = SCHEMAS[schema["$ref"].rsplit("/", 1)[1]]
    found: dict[str, Any] = dict(schema.get("properties", {}))
    for part in schema.get("allOf", []):
        found |= members(part)
    return found


def parameters(operation: dict[str, Any]) -> set[str]:
    names = {parameter["name"].lower().replace("-", "_") for parameter in operation.get("parameters", [])}
    for content in operation.get("requestBody", {}).get("content", {}).values():
        names |= set(members(content["schema"]))
    # Each call sets this header itself.
    names.discard("timenav_timeline")
    return {"from_" if name == "from" else name for name in names}


@pytest.mark.parametrize("kind", [timenav.Client, timenav.AsyncClient])
@pytest.mark.parametrize("operation", OPERATIONS, ids=IDS)
def test_every_operation_has_a_call_with_all_its_parameters(operation: dict[str, Any], kind: type) -> None:
    call = getattr(kind, operation["operationId"])
    accepted = set(inspect.signature(call).parameters) - {"self", "content", "content_type", "body"}
    assert accepted == parameters(operation)
    assert inspect.iscoroutinefunction(call) == (kind is timenav.AsyncClient)
    assert inspect.signature(call).return_annotation not in ("Any", inspect.Signature.empty)


@pytest.mark.parametrize("kind", [timenav.Client, timenav.AsyncClient])
@pytest.mark.parametrize("operation", OPERATIONS, ids=IDS)
def test_documentation_of_call_describes_its_parameters(operation: dict[str, Any], kind: type) -> None:
    described = {
        parameter["name"].lower().replace("-", "_"): parameter for parameter in operation.get("parameters", [])
    }
    for content in operation.get("requestBody", {}).get("content", {}).values():
        described |= members(content["schema"])
    text = inspect.getdoc(getattr(kind, operation["operationId"])) or ""
    arguments = " ".join(text.partition("Args:")[2].split())
    for name, schema in described.items():
        if name in parameters(operation) and schema.get("description"):
            written = " ".join(f"{name}: {schema['description']}".split())
            assert written in arguments, name


def test_every_schema_has_a_type_with_all_its_members() -> None:
    for name, schema in SCHEMAS.items():
        of = getattr(schemas, name)
        if members(schema):
            assert set(of.__annotations__) == set(members(schema)), name


def example(schema: dict[str, Any], name: str) -> Any:
    while "$ref" in schema:
        schema = SCHEMAS[schema["$ref"].rsplit("/", 1)[1]]
    if "example" in schema:
        return schema["example"]
    if schema.get("examples"):
        return schema["examples"][0]
    for word in ("oneOf", "anyOf"):
        if word in schema and "properties" not in schema:
            return example(schema[word][0], name)
    if "enum" in schema:
        return schema["enum"][0]
    return EXAMPLES.get(name)


@pytest.mark.parametrize("operation", OPERATIONS, ids=IDS)
def test_every_call_is_accepted_by_the_service(operation: dict[str, Any], service: Service) -> None:
    name = operation["operationId"]
    arguments: dict[str, Any] = {}
    content: dict[str, Any] = next(iter(operation.get("requestBody", {}).get("content", {}).values()), {"schema": {}})
    described = {
        parameter["name"]: parameter for parameter in operation.get("parameters", []) if parameter["in"] != "header"
    }
    required = set(SCHEMAS.get(content["schema"].get("$ref", "").rsplit("/", 1)[-1], {}).get("required", []))
    for parameter_name, parameter in described.items():
        value = parameter.get("example", example(parameter["schema"], parameter_name))
        if value is not None and (parameter.get("required") or parameter_name != "cursor"):
            arguments["from_" if parameter_name == "from" else parameter_name] = value
    for member, schema in members(content["schema"]).items():
        value = example(schema, member)
        if value is not None and (member in required or member == "timeline_id"):
            arguments[member] = value
    with service.client() as client:
        call = getattr(client, name)
        signature = inspect.signature(call)
        if "body" in signature.parameters:
            arguments["body"] = {"time": "2028-02-29T09:00:00Z", "description": "A leap day"}
        if "content" in signature.parameters:
            arguments["content"] = b""
        for argument, declared in signature.parameters.items():
            assert declared.default is not inspect.Parameter.empty or argument in arguments, argument
        error: timenav.ApiError | None = None
        response = None
        try:
            response = call(**arguments)
        except timenav.ApiError as problem:
            error = problem
        if error is not None:
            assert not {error.code, *(field.code for field in error.errors)} & ENCODING_ERRORS, error
            assert error.http_status not in (405, 406, 415, 500), error
        elif isinstance(response, timenav.Download | timenav.EventStream):
            response.close()
