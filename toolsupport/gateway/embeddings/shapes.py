"""Declares the objects of the Embeddings API."""

from __future__ import annotations

from toolsupport.core.json_shapes import TEXT, WHOLE, Shape, list_of, or_null

USAGE = Shape("EmbeddingUsage", {"prompt_tokens": WHOLE, "total_tokens": WHOLE})
VECTOR = Shape(
    "Embedding",
    {"index": WHOLE, "embedding": {"anyOf": [TEXT, list_of({"type": "number"})]}},
    {"object": "embedding"},
)
ANSWER = Shape(
    "Embeddings", {"data": list_of(VECTOR.ref), "model": TEXT, "usage": or_null(USAGE.ref)}, {"object": "list"}
)
SHAPES = (USAGE, VECTOR, ANSWER)
