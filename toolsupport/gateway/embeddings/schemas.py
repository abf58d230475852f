"""Declares the fields of a request to /v1/embeddings, for the API description and for validation."""

from __future__ import annotations

from toolsupport.core.types import JSON
from toolsupport.gateway.request_schemas import LARGEST, MODEL, BodyCheck

MOST_INPUTS = 2048
WRITTEN: JSON = {"type": "string", "minLength": 1}
TOKENS: JSON = {
    "type": "array",
    "minItems": 1,
    "items": {"type": "integer", "minimum": 0, "maximum": LARGEST},
}
REQUEST: JSON = {
    "type": "object",
    "required": ["model", "input"],
    "properties": {
        "model": MODEL,
        "input": {
            "anyOf": [
                WRITTEN,
                {"type": "array", "minItems": 1, "maxItems": MOST_INPUTS, "items": WRITTEN},
                TOKENS,
                {"type": "array", "minItems": 1, "maxItems": MOST_INPUTS, "items": TOKENS},
            ],
            "description": f"a text, or a list of 1 to {MOST_INPUTS} texts or of tokens; none of them empty",
        },
        "encoding_format": {"enum": ["float", "base64", None], "description": "float or base64"},
        "dimensions": {
            "type": ["integer", "null"],
            "minimum": 1,
            "maximum": 1_000_000,
            "description": "a whole number of 1 or more",
        },
        "user": {"type": ["string", "null"], "description": "a text"},
    },
    "description": "a JSON object",
}
CHECK = BodyCheck(REQUEST)
