"""Replies and refusals that show that a server does not enforce a schema."""

from __future__ import annotations

from tests.tables import every
from toolsupport.core.constrained.schema_enforcement import ReplyBeginning, has_further_keywords, is_refusal


@every(
    ("text", "unconstrained"),
    [
        ('{"tool": "f", "arguments": {}}', False),
        ('\n {\n "calls" : [', False),
        ('{"answer":""}', False),
        ('{"reply": {"tool"', False),
        ("", False),
        ('{"to', False),
        ("{", False),
        ("I would rather talk.", True),
        ("<tool_call>\n{}", True),
        ('```json\n{"tool": "f"}', True),
        ('{"name": "f", "arguments": {}}', True),
        ("[]", True),
        ("<think>\nHm.</think>{}", False),
        ("[THINK]Hm.", False),
    ],
)
@every("size", [1, 1000])
def test_the_beginning_of_a_reply(text: str, unconstrained: bool, size: int) -> None:  # K1
    beginning = ReplyBeginning()
    for place in range(0, len(text), size):
        beginning.take(text[place : place + size])
    assert beginning.unconstrained is unconstrained


@every(
    ("status", "body", "refused"),
    [
        (400, '{"error": "Invalid json_schema: unsupported pattern"}', True),
        (500, "failed to parse grammar", True),
        (400, '{"error": "unknown field format"}', True),
        (400, "Bad Request", True),
        (422, '{"detail": [{"loc": ["body", "guided"], "msg": "Extra inputs are not permitted"}]}', True),
        (400, "too many states", True),
        (415, "", True),
        (500, "out of memory", False),
        (500, "", False),
        (400, "the context is too long", False),
        (400, "image input is not supported", False),
        (400, '{"error": "model "x" not found"}', False),
        (401, "invalid schema key", False),
        (404, "no such schema", False),
    ],
)
def test_a_refusal_names_the_schema(status: int, body: str, refused: bool) -> None:  # K1
    assert is_refusal(status, body) is refused


def test_a_property_called_pattern_is_no_keyword() -> None:
    assert has_further_keywords({"anyOf": [{"type": "string", "pattern": "^a$"}]})
    assert not has_further_keywords({"properties": {"pattern": {"type": "string"}}})
