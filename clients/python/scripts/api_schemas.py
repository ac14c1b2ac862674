"""Generates a Python type for each schema of the API."""

from __future__ import annotations

import re

from api_document import Document, Schema

HEADER = '"""{title}\n\nWritten by scripts/generate.py from docs/api/openapi.json. Do not edit it.\n"""\n\n'
PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}


class Types:
    """Converts schemas to types, including inline objects."""

    def __init__(self, document: Document, prefix: str = "") -> None:
        """Creates an empty set of types. `prefix` qualifies the names of types."""
        self.document = document
        self.prefix = prefix
        self.written: dict[str, str] = {}

    def expression(self, schema: Schema, hint: str) -> str:
        """Returns the type of a schema. `hint` is the name of an unnamed object."""
        if "$ref" in schema:
            return self.prefix + str(schema["$ref"]).rsplit("/", 1)[1]
        for word in ("oneOf", "anyOf"):
            # In addition to properties, it only lists which of them may be combined.
            if word in schema and "properties" not in schema:
                return _union(
                    self.expression(variant, f"{hint}{_camel(_kind(variant)) or index}")
                    for index, variant in enumerate(schema[word], 1)
                )
        if "const" in schema:
            return f"Literal[{schema['const']!r}]"
        if "enum" in schema:
            words = ", ".join(repr(word) for word in schema["enum"])
            return f"Literal[{words}]"
        if "allOf" in schema or "properties" in schema:
            return self._object(schema, hint)
        kinds = schema.get("type", [])
        kinds = [kinds] if isinstance(kinds, str) else kinds
        return _union(self._plain(kind, schema, hint) for kind in kinds) if kinds else "Any"

    def _plain(self, kind: str, schema: Schema, hint: str) -> str:
        if kind == "array":
            return f"Sequence[{self.expression(schema.get('items', {}), f'{hint}Item')}]"
        if kind == "object":
            values = schema.get("additionalProperties")
            inner = self.expression(values, f"{hint}Value") if isinstance(values, dict) and values else "Any"
            return f"Mapping[str, {inner}]"
        return PLAIN[kind]

    def _object(self, schema: Schema, name: str) -> str:
        self.define(schema, name)
        return self.prefix + name

    def define(self, schema: Schema, name: str) -> None:
        """Adds a named type."""
        flat = self.document.flat(schema)
        if "properties" not in flat:
            self.written[name] = f"{name}: TypeAlias = {self.expression(schema, name)!r}\n{_doc(schema, '')}\n"
            return
        required = flat.get("required", [])
        members = []
        for member, inner in flat["properties"].items():
            of = self.expression(inner, f"{name}{_camel(member)}")
            of = of if member in required else f"NotRequired[{of}]"
            members.append(f"    {member}: {of}\n{_doc(inner, '    ')}")
        # Functional syntax if a member is not an identifier or is a keyword.
        self.written[name] = f"class {name}(TypedDict):\n{_doc(flat, '    ')}\n{''.join(members)}\n"
        if any(not member.isidentifier() or member in ("from", "class") for member in flat["properties"]):
            types = {member: self.expression(inner, name) for member, inner in flat["properties"].items()}
            # Quoted, because a call is evaluated before later types are defined.
            pairs = ", ".join(
                f"{member!r}: {(of if member in required else f'NotRequired[{of}]')!r}" for member, of in types.items()
            )
            self.written[name] = f"{name} = TypedDict({name!r}, {{{pairs}}})\n{_doc(flat, '')}\n"


def schemas(document: Document) -> str:
    """Returns the module of all types."""
    types = Types(document)
    for name, schema in document.schemas.items():
        types.define(schema, name)
    text = HEADER.format(title="Types of requests and responses.")
    text += "from __future__ import annotations\n\nfrom collections.abc import Mapping, Sequence\n"
    text += "from typing import Any, Literal\n\nfrom typing_extensions import NotRequired, TypeAlias, TypedDict\n\n\n"
    body = "\n".join(types.written[name] for name in sorted(types.written))
    names = ", ".join(repr(name) for name in sorted(types.written))
    return f"{text}{body}\n__all__ = [{names}]\n"


def _union(parts: object) -> str:
    seen: dict[str, None] = dict.fromkeys(parts)  # type: ignore[call-overload]
    # `None` comes last, by convention.
    return " | ".join(sorted(seen, key=lambda part: part == "None"))


def _kind(schema: Schema) -> str:
    words = schema.get("properties", {}).get("kind", {}).get("enum", [])
    return words[0] if len(words) == 1 else ""


def _camel(text: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[^0-9A-Za-z]+", text))


def doc_text(text: str, indent: str) -> str:
    """Formats a text as a docstring, wrapped and escaped."""
    lines = wrapped(text, indent)
    ended = f"\n{indent}" if len(lines) > 1 or lines[-1].endswith('"') else ""
    return f'{indent}"""' + f"\n{indent}".join(lines) + f'{ended}"""\n'


def wrapped(text: str, indent: str) -> list[str]:
    """Wraps and escapes a text for a docstring with this indent."""
    words, lines, line = text.replace("\\", "\\\\").replace('"""', "'''").split(), [], ""
    for word in words:
        if line and len(indent) + len(line) + len(word) > 112:
            lines.append(line)
            line = ""
        line = f"{line} {word}".strip()
    return [*lines, line]


def _doc(schema: Schema, indent: str) -> str:
    text = schema.get("description", "")
    return doc_text(text, indent) if text else ""
