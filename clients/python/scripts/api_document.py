"""The parts of the OpenAPI document that the generator uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Schema = dict[str, Any]
METHODS = ("get", "post", "put", "patch", "delete")


@dataclass(frozen=True)
class Parameter:
    """One parameter of a call."""

    wire_name: str
    location: str
    """`path`, `query`, `header`, or `body` for a member of a JSON object."""
    schema: Schema
    is_required: bool
    description: str

    @property
    def name(self) -> str:
        """The name in Python."""
        name = self.wire_name.lower().replace("-", "_")
        return f"{name}_" if name in ("from", "import", "class", "global") else name


@dataclass(frozen=True)
class Operation:
    """One operation of the API."""

    name: str
    method: str
    path: str
    summary: str
    parameters: tuple[Parameter, ...]
    body: str
    """`object` if its members are parameters, `json` for other JSON, `raw` for a file, or `none`."""
    body_schema: Schema
    body_types: tuple[str, ...]
    responses: dict[str, Schema]
    """The schemas of the success response by media type."""

    @property
    def is_idempotent(self) -> bool:
        """Whether it accepts an idempotency key."""
        return any(parameter.wire_name == "Idempotency-Key" for parameter in self.parameters)

    @property
    def has_timeline(self) -> bool:
        """Whether the client's timeline is its default. A new key is only bound to a timeline that the call names."""
        optional = [
            parameter for parameter in self.parameters if parameter.name == "timeline_id" and not parameter.is_required
        ]
        return self.name != "create_api_key" and bool(optional)


class Document:
    """The OpenAPI document."""

    def __init__(self, document: dict[str, Any]) -> None:
        """Reads the schemas and operations."""
        self.schemas: dict[str, Schema] = document["components"]["schemas"]
        self.operations = [
            self._operation(path, method, item[method])
            for path, item in document["paths"].items()
            for method in METHODS
            if method in item
        ]

    def resolve(self, schema: Schema) -> Schema:
        """Resolves references."""
        while "$ref" in schema:
            schema = self.schemas[schema["$ref"].rsplit("/", 1)[1]]
        return schema

    def flat(self, schema: Schema) -> Schema:
        """Merges the parts of `allOf` into one object."""
        schema = self.resolve(schema)
        if "allOf" not in schema:
            return schema
        properties: dict[str, Schema] = {}
        required: list[str] = []
        for part in schema["allOf"]:
            flat = self.flat(part)
            properties |= flat.get("properties", {})
            required += flat.get("required", [])
        return {**schema, "type": "object", "properties": properties, "required": required}

    def _operation(self, path: str, method: str, definition: dict[str, Any]) -> Operation:
        parameters = [
            Parameter(
                parameter["name"],
                parameter["in"],
                parameter["schema"],
                parameter.get("required", False),
                parameter.get("description", ""),
            )
            for parameter in definition.get("parameters", [])
            # Each call sets this header itself.
            if parameter["name"] != "Timenav-Timeline"
        ]
        content: dict[str, Any] = definition.get("requestBody", {}).get("content", {})
        body, schema = "none", {}
        if content:
            schema = next(iter(content.values()))["schema"]
            flat = self.flat(schema)
            if flat.get("format") == "binary":
                body = "raw"
            elif "properties" in flat:
                body = "object"
                required = flat.get("required", [])
                parameters += [
                    Parameter(name, "body", member, name in required, member.get("description", ""))
                    for name, member in flat["properties"].items()
                ]
            else:
                body = "json"
        success = next(response for status, response in definition["responses"].items() if status.startswith("2"))
        responses = {kind: response["schema"] for kind, response in success.get("content", {}).items()}
        return Operation(
            name=definition["operationId"],
            method=method.upper(),
            path=path,
            summary=definition.get("summary", ""),
            parameters=tuple(parameters),
            body=body,
            body_schema=schema,
            body_types=tuple(content),
            responses=responses,
        )
