"""The field for a schema of the reply at each kind of server, and that none gets one beside native tools."""

from __future__ import annotations

import orjson
import pytest

from tests.tables import every
from toolsupport import exchange
from toolsupport.core.constrained import call_schema, closed
from toolsupport.core.errors import ToolsupportError
from toolsupport.core.types import JSON, Capabilities, Capability, ChatMessage, Request, RequestSpec, Role, ToolSpec
from toolsupport.providers import PROVIDERS, codec

TOOL = ToolSpec("f", parameters={"type": "object", "properties": {"a": {"type": "string"}}})
SCHEMA = call_schema([TOOL])
CLOSED = ("openai.com", "openrouter", "groq")
TYPES = ({"type": "json_object"}, {"type": "json_schema", "json_schema": {"name": "x", "schema": {}}})


def body(kind: str, request: Request) -> JSON:
    read: JSON = orjson.loads(codec(kind).encode(request))
    return read


def sent_schema(written: JSON) -> object:
    return written.get("format") or written.get("response_format", {}).get("json_schema", {}).get("schema")


@every("kind", PROVIDERS)
def test_each_kind_has_the_field_of_its_row(kind: str) -> None:  # K1
    written, row = body(kind, Request("m", (), schema=SCHEMA)), PROVIDERS[kind]
    assert [field for field in ("format", "response_format") if field in written] == list(
        filter(None, [row.constrains])
    )
    assert sent_schema(written) == (closed(SCHEMA) if kind in CLOSED else SCHEMA if row.constrains else None)


@every("kind", PROVIDERS)
def test_native_tools_and_a_schema_are_never_sent_together(kind: str) -> None:  # K6
    with pytest.raises(ToolsupportError, match="together"):
        codec(kind).encode(Request("m", (), (TOOL,), supports_tools=True, schema=SCHEMA))
    for wanted in TYPES:
        written = body(kind, Request("m", (), (TOOL,), supports_tools=True, options={"response_format": wanted}))
        assert "tools" in written and ("response_format" in written) == (kind == "openai.com")  # decision 029
        assert "format" not in written


@pytest.mark.parametrize("format_", ["native", "forced_json", "hermes"])
def test_a_request_has_native_tools_or_a_schema(format_: str) -> None:  # K6
    known = Capabilities({"tools": Capability("tools", True, "auto_detected", "Tested.")})
    spec = RequestSpec("m", known, (TOOL,), format=format_, schema=SCHEMA)
    request = exchange.make_request(spec, [ChatMessage(Role.USER, "Hi")])
    assert (bool(request.tools), request.schema is not None) == (format_ == "native", format_ == "forced_json")
    assert not request.forbidden()
