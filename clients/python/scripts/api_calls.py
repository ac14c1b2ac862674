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
"""What the messages of an operation are."""


def operations_table(document: Document) -> str:
    """Returns the module that says how each operation is sent."""
    rows = "".join(f"    {operation.name!r}: {_row(operation)},\n" for operation in document.operations)
    text = HEADER.format(title="How each operation is sent.")
    text += "from __future__ import annotations\n\nfrom ._request import Operation\n\n"
    return f"{text}OPERATIONS: dict[str, Operation] = {{\n{rows}}}\n"


def _row(operation: Operation) -> str:
    def names(place: str) -> str:
        pairs = {one.name: one.wire_name for one in operation.parameters if one.place == place}
        return json.dumps(pairs)

    places = ", ".join(
        f"{place}={names(place)}" for place in ("path", "query", "header", "body") if names(place) != "{}"
    )
    return (
        f"Operation(name={operation.name!r}, method={operation.method!r}, template={operation.path!r}, "
        f"body_kind={operation.body!r}, is_once={operation.is_once}, "
        f"has_timeline={operation.has_timeline}, {places})"
    )


def calls(document: Document, *, is_async: bool) -> str:
    """Returns the module of methods."""
    types = Types(document, prefix="schemas.")
    kind = "AsyncCalls" if is_async else "Calls"
    methods = "\n".join(
        method for operation in document.operations for method in _methods(operation, types, is_async=is_async)
    )
    streams = ("AsyncDownload", "AsyncEvents") if is_async else ("Download", "Events")
    base, module = ("AsyncTransport", "_async_transport") if is_async else ("Transport", "_transport")
    how = "awaited" if is_async else "called"
    text = HEADER.format(title=f"Every operation of the API, as a method to be {how}.")
    text += "from __future__ import annotations\n\nfrom collections.abc import Mapping, Sequence\n"
    text += "from typing import Any, Literal, cast\n\nfrom . import schemas\n"
    text += "from ._instant import When\nfrom ._operations import OPERATIONS\n"
    text += "from ._stream_message import FiringMessage, StreamMessage\n"
    text += "from ._request import UNSET, Content, IfMatch, Length, Moment, Unset\n"
    text += f"from .{module} import {base}, {', '.join(streams)}\n\n\n"
    text += f'class {kind}({base}):\n    """Every operation of the API."""\n\n{methods}\n\n'
    return text + "_USED = (Any, Literal, Mapping, Sequence)\n"


def _methods(operation: Operation, types: Types, *, is_async: bool) -> Iterator[str]:
    kinds = operation.answers
    if JSON in kinds:
        answer = types.expression(kinds[JSON], "Answer")
        yield _method(operation, types, "json", answer, is_async=is_async)
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
    return f"{'AsyncEvents' if is_async else 'Events'}[{of}]"


NOTES = {
    "json": "",
    "text": "As the signed text, to be kept and checked elsewhere.",
    "events": "Close it, or use it in a `with` statement.",
    "content": "",
    "download": "The body is read as it comes: close it, or use it in a `with` statement.",
}


def _method(operation: Operation, types: Types, way: str, answer: str, suffix: str = "", *, is_async: bool) -> str:
    ordered = sorted(operation.parameters, key=lambda one: not one.is_required)
    path = [one for one in ordered if one.place == "path"]
    named = [one for one in ordered if one.place != "path"]
    arguments = [f"{one.name}: {_type(one, types)}" for one in path]
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
        f"{one.name}: {_type(one, types)}" if one.is_required else f"{one.name}: {_type(one, types)} | Unset = UNSET"
        for one in named
    ]
    given = ", ".join(f"{one.name!r}: {one.name}" for one in (*path, *named))
    extra = ""
    if operation.body == "raw":
        extra = ", content=content, content_type=content_type"
    elif operation.body == "json":
        extra = ", body=body"
    call = f"{'await ' if is_async else ''}self._{way}(OPERATIONS[{operation.name!r}], {{{given}}}{extra})"
    is_known = way == "json" or (way == "events" and "Any" not in answer)
    done = f"return cast({answer!r}, {call})" if is_known else f"return {call}"
    head = f"    {'async ' if is_async else ''}def {operation.name}{suffix}"
    signature = f"{head}(self, {', '.join(arguments)}) -> {answer}:\n"
    if len(signature) > LINE_MAX:
        lines = "".join(f"        {argument},\n" for argument in ("self", *arguments))
        signature = f"{head}(\n{lines}    ) -> {answer}:\n"
    note = NOTES[way]
    parts = [f"{operation.summary}.", *([note] if note else [])]
    documented = [line for one in (*path, *named) for line in _argument(one, types.document)]
    about = doc_text(parts[0], " " * 8)
    if note or documented:
        text = "\n\n".join(" " * 8 + part for part in parts).replace(" " * 8, "", 1)
        arguments_text = "".join(f"{line}\n" for line in ["", "        Args:", *documented]) if documented else ""
        about = f'        """{text}\n{arguments_text}        """\n'
    return f"{signature}{about}        {done}\n"


def _argument(parameter: Parameter, document: Document) -> list[str]:
    """Returns what an Args section says of a parameter."""
    text = parameter.description or document.resolve(parameter.schema).get("description", "")
    lines = wrapped(f"{parameter.name}: {text}".rstrip(" :"), " " * 16)
    return [" " * 12 + lines[0], *(" " * 16 + line for line in lines[1:])] if text else []


def _is_import(operation: Operation) -> bool:
    return "text/csv" in operation.body_types


def _type(parameter: Parameter, types: Types) -> str:
    if parameter.place == "header":
        return "IfMatch" if parameter.wire_name == "If-Match" else "str"
    schema = parameter.schema
    kinds = schema.get("type", [])
    is_nullable = "null" in kinds if isinstance(kinds, list) else False
    by_format = {
        "timestamp": "When",
        "expiry": "When",
        "length-of-time": "Length",
        "whole-seconds": "Length",
        "moment": "Moment",
    }
    of = by_format.get(schema.get("format", ""))
    # A list may be written as a text with commas: both are the same to the service.
    if of is None and parameter.place == "query" and parameter.wire_name in ("kinds", "include", "topics"):
        of = "str | Sequence[str]"
    if of is None and parameter.wire_name == "attribute":
        of = "Mapping[str, str]"
    if of is None:
        return types.expression(schema, parameter.name.title())
    return f"{of} | None" if is_nullable else of
