"""Writes a method for every operation of the API."""

from __future__ import annotations

import json
from collections.abc import Iterator

from api_document import Document, Operation, Parameter
from api_schemas import HEADER, Types, doc_text, wrapped

JSON = "application/json"
EVENTS = "text/event-stream"
LINE_MAX = 120
MESSAGES = {"clock_stream": "schemas.ClockBody", "firings_stream": "FiringMessage", "stream": "StreamMessage"}
"""The message types of streams."""


def operations_table(document: Document) -> str:
    """Returns the module with the definition of each operation."""
    rows = "".join(f"    {operation.name!r}: {_row(operation)},\n" for operation in document.operations)
    text = HEADER.format(title="Definitions of the operations.")
    text += "from __future__ import annotations\n\nfrom ._request import Operation\n\n"
    return f"{text}OPERATIONS: dict[str, Operation] = {{\n{rows}}}\n"


def _row(operation: Operation) -> str:
    def names(location: str) -> str:
        pairs = {
            parameter.name: parameter.wire_name for parameter in operation.parameters if parameter.location == location
        }
        return json.dumps(pairs)

    locations = ", ".join(
        f"{location}={names(location)}" for location in ("path", "query", "header", "body") if names(location) != "{}"
    )
    return (
        f"Operation(name={operation.name!r}, method={operation.method!r}, template={operation.path!r}, "
        f"body_kind={operation.body!r}, is_idempotent={operation.is_idempotent}, "
        f"has_timeline={operation.has_timeline}, {locations})"
    )


def calls(document: Document, *, is_async: bool) -> str:
    """Returns the module with a method for each operation."""
    types = Types(document, prefix="schemas.")
    kind = "AsyncCalls" if is_async else "Calls"
    methods = "\n".join(
        method for operation in document.operations for method in _methods(operation, types, is_async=is_async)
    )
    streams = ("AsyncDownload", "AsyncEventStream") if is_async else ("Download", "EventStream")
    base, module = ("AsyncTransport", "_async_transport") if is_async else ("Transport", "_transport")
    text = HEADER.format(title=f"A method for each operation of the API{', for asyncio' if is_async else ''}.")
    text += "from __future__ import annotations\n\nfrom collections.abc import Mapping, Sequence\n"
    text += "from typing import Any, Literal, cast\n\nfrom . import schemas\n"
    text += "from ._instant import When\nfrom ._operations import OPERATIONS\n"
    text += "from ._stream_message import FiringMessage, StreamMessage\n"
    text += "from ._request import UNSET, Content, IfMatch, Duration, Moment, Unset\n"
    text += f"from .{module} import {base}, {', '.join(streams)}\n\n\n"
    text += f'class {kind}({base}):\n    """A method for each operation of the API."""\n\n{methods}\n\n'
    return text + "_USED = (Any, Literal, Mapping, Sequence)\n"


def _methods(operation: Operation, types: Types, *, is_async: bool) -> Iterator[str]:
    kinds = operation.responses
    if JSON in kinds:
        response_type = types.expression(kinds[JSON], "Response")
        yield _method(operation, types, "json", response_type, is_async=is_async)
        if "text/plain" in kinds:
            yield _method(operation, types, "text", "str", "_text", is_async=is_async)
        if EVENTS in kinds:
            yield _method(operation, types, "events", _events("Any", is_async), "_stream", is_async=is_async)
    elif EVENTS in kinds:
        of = _events(MESSAGES[operation.name], is_async)
        yield _method(operation, types, "events", of, is_async=is_async)
    elif "application/octet-stream" in kinds:
        yield _method(operation, types, "content", "bytes", is_async=is_async)
    else:
        download = "AsyncDownload" if is_async else "Download"
        yield _method(operation, types, "download", download, is_async=is_async)


def _events(of: str, is_async: bool) -> str:
    return f"{'AsyncEventStream' if is_async else 'EventStream'}[{of}]"


NOTES = {
    "json": "",
    "text": "Returns the signed text, which other programs can verify.",
    "events": "Close the stream, or use it in a `with` statement.",
    "content": "",
    "download": "The body is streamed: close it, or use it in a `with` statement.",
}


def _method(
    operation: Operation, types: Types, response_kind: str, response_type: str, suffix: str = "", *, is_async: bool
) -> str:
    ordered = sorted(operation.parameters, key=lambda parameter: not parameter.is_required)
    path = [parameter for parameter in ordered if parameter.location == "path"]
    named = [parameter for parameter in ordered if parameter.location != "path"]
    arguments = [f"{parameter.name}: {_type(parameter, types)}" for parameter in path]
    if operation.body == "raw":
        arguments.append("content: Content")
    elif operation.body == "json":
        arguments.append(f"body: {types.expression(operation.body_schema, 'Body')}")
    if named or operation.body == "raw":
        arguments.append("*")
    if operation.body == "raw":
        kinds = ", ".join(repr(kind) for kind in operation.body_types)
        arguments.append(
            f"content_type: Literal[{kinds}] = {'application/octet-stream'!r}"
            if _is_import(operation)
            else f"content_type: Literal[{kinds}] = {operation.body_types[0]!r}"
        )
    arguments += [
        f"{parameter.name}: {_type(parameter, types)}"
        if parameter.is_required
        else f"{parameter.name}: {_type(parameter, types)} | Unset = UNSET"
        for parameter in named
    ]
    values = ", ".join(f"{parameter.name!r}: {parameter.name}" for parameter in (*path, *named))
    extra = ""
    if operation.body == "raw":
        extra = ", content=content, content_type=content_type"
    elif operation.body == "json":
        extra = ", body=body"
    call = f"{'await ' if is_async else ''}self._{response_kind}(OPERATIONS[{operation.name!r}], {{{values}}}{extra})"
    is_known = response_kind == "json" or (response_kind == "events" and "Any" not in response_type)
    done = f"return cast({response_type!r}, {call})" if is_known else f"return {call}"
    head = f"    {'async ' if is_async else ''}def {operation.name}{suffix}"
    signature = f"{head}(self, {', '.join(arguments)}) -> {response_type}:\n"
    if len(signature) > LINE_MAX:
        lines = "".join(f"        {argument},\n" for argument in ("self", *arguments))
        signature = f"{head}(\n{lines}    ) -> {response_type}:\n"
    note = NOTES[response_kind]
    parts = [f"{operation.summary}.", *([note] if note else [])]
    documented = [line for parameter in (*path, *named) for line in _argument(parameter, types.document)]
    about = doc_text(parts[0], " " * 8)
    if note or documented:
        text = "\n\n".join(" " * 8 + part for part in parts).replace(" " * 8, "", 1)
        arguments_text = "".join(f"{line}\n" for line in ["", "        Args:", *documented]) if documented else ""
        about = f'        """{text}\n{arguments_text}        """\n'
    return f"{signature}{about}        {done}\n"


def _argument(parameter: Parameter, document: Document) -> list[str]:
    """Returns the lines of an Args section that describe a parameter."""
    text = parameter.description or document.resolve(parameter.schema).get("description", "")
    lines = wrapped(f"{parameter.name}: {text}".rstrip(" :"), " " * 16)
    return [" " * 12 + lines[0], *(" " * 16 + line for line in lines[1:])] if text else []


def _is_import(operation: Operation) -> bool:
    return "text/csv" in operation.body_types


def _type(parameter: Parameter, types: Types) -> str:
    if parameter.location == "header":
        return "IfMatch" if parameter.wire_name == "If-Match" else "str"
    schema = parameter.schema
    kinds = schema.get("type", [])
    is_nullable = "null" in kinds if isinstance(kinds, list) else False
    by_format = {
        "timestamp": "When",
        "expiry": "When",
        "length-of-time": "Duration",
        "whole-seconds": "Duration",
        "moment": "Moment",
    }
    of = by_format.get(schema.get("format", ""))
    # The service also accepts a list as comma-separated text.
    if of is None and parameter.location == "query" and parameter.wire_name in ("kinds", "include", "topics"):
        of = "str | Sequence[str]"
    if of is None and parameter.wire_name == "attribute":
        of = "Mapping[str, str]"
    if of is None:
        return types.expression(schema, parameter.name.title())
    return f"{of} | None" if is_nullable else of
