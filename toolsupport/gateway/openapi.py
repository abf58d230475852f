"""Describes the API for programs as an OpenAPI document."""

from __future__ import annotations

from typing import Any

from toolsupport.core.json_shapes import Choice, Shape
from toolsupport.core.types import JSON
from toolsupport.detection import KINDS
from toolsupport.gateway import chat_schemas, chat_shapes, model_list
from toolsupport.gateway.embeddings import schemas as embeddings_schemas
from toolsupport.gateway.embeddings import shapes as embeddings_shapes
from toolsupport.gateway.messages import schemas as messages_schemas
from toolsupport.gateway.messages import shapes as messages_shapes
from toolsupport.gateway.request_schemas import CALL, OBJECT, TEXT
from toolsupport.gateway.responses import schemas as responses_schemas
from toolsupport.gateway.responses import shapes as responses_shapes
from toolsupport.web import api_errors

# All objects of answers, from the tables that they are written with.
SHAPES: tuple[Shape | Choice, ...] = (
    *(*api_errors.SHAPES, *chat_shapes.SHAPES, *responses_shapes.SHAPES),
    *(*messages_shapes.SHAPES, *embeddings_shapes.SHAPES, *model_list.SHAPES),
)
NOT_RUN = (400, 401, 403, 404, 409, 429, 502, 504)


def document(site: str) -> JSON:
    """Return the whole document; `site` is the address of this site."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "toolsupport", "version": "1"},
        "servers": [{"url": site}],
        "security": [{"key": []}],
        "components": {
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
            "schemas": {
                **{shape.name: shape.schema for shape in SHAPES},
                "Question": chat_schemas.QUESTION,
                "QuestionOfItems": chat_schemas.ITEMS,
                "EmbeddingRequest": embeddings_schemas.REQUEST,
                "ResponsesRequest": responses_schemas.REQUEST,
                "MessagesRequest": messages_schemas.REQUEST,
                "CountRequest": messages_schemas.COUNT,
                "Call": CALL,
            },
        },
        "paths": {
            "/v1/models": {"get": _operation("The models that may be asked", 401, 403, 429, answer=model_list.LIST)},
            "/v1/models/{model_id}": {"get": _of_model("One of them", model_list.MODEL)},
            "/v1/chat/completions": {"post": _chat_completion()},
            "/v1/embeddings": {"post": _embeddings()},
            "/v1/responses": {"post": _answer("ResponsesRequest", responses_shapes.RESPONSE, responses_shapes.EVENT)},
            "/v1/messages": {
                "post": _in_messages_shape(_answer("MessagesRequest", messages_shapes.MESSAGE, messages_shapes.EVENT))
            },
            "/v1/messages/count_tokens": {"post": _count()},
            "/api/models": {"get": _operation("All models, with their capabilities", 401, 403, 429)},
            "/api/models/{model_id}": {"get": _of_model("One model with its evidence and overrides")},
            "/api/models/{model_id}/detect": {"post": _detect()},
            "/api/detections/{detection_id}": {"get": _detection()},
            "/api/tools/execute": {"post": _execute()},
            "/api/openapi.json": {"get": _operation("This description", 401, 403, 429)},
        },
    }


def _operation(summary: str, *errors: int, answer: Shape | None = None) -> dict[str, Any]:
    schema = answer.ref if answer else OBJECT
    fine = {"description": "The answer", "content": {"application/json": {"schema": schema}}}
    wrong = {"schema": {"$ref": "#/components/schemas/Error"}}
    refusals = {str(status): {"description": "Why not", "content": {"application/json": wrong}} for status in errors}
    return {"summary": summary, "responses": {"200": fine, **refusals}}


def _execute() -> JSON:
    operation = _operation("One call of a tool; 409 names the question that a person has to answer first", *NOT_RUN)
    return _asking(operation, "Call")


def _of_model(summary: str, answer: Shape | None = None) -> JSON:
    parameter = {"name": "model_id", "in": "path", "required": True, "schema": TEXT}
    return {**_operation(summary, 401, 403, 404, 429, answer=answer), "parameters": [parameter]}


def _detect() -> JSON:
    operation = _operation("Begin a test of a model, or join the one under way", 400, 401, 403, 404, 409, 429)
    parameter = {"name": "model_id", "in": "path", "required": True, "schema": TEXT}
    kind = {"type": "object", "properties": {"kind": {"enum": list(KINDS)}}}
    body = {"content": {name: {"schema": kind} for name in ("application/json", "application/x-www-form-urlencoded")}}
    return {**operation, "parameters": [parameter], "requestBody": body}


def _detection() -> JSON:
    number = {"type": "integer", "minimum": 1}
    parameter = {"name": "detection_id", "in": "path", "required": True, "schema": number}
    operation = _operation("A test with its steps, its verdict and its evidence", 401, 403, 404, 429)
    return {**operation, "parameters": [parameter]}


def _asking(operation: JSON, *schemas: str) -> JSON:
    found = [{"$ref": f"#/components/schemas/{schema}"} for schema in schemas]
    body = {"schema": found[0] if len(found) == 1 else {"anyOf": found}}
    return {**operation, "requestBody": {"required": True, "content": {"application/json": body}}}


def _chat_completion() -> JSON:
    operation = _answer("Question", chat_shapes.COMPLETION, chat_shapes.EVENT)
    return _asking(operation, "Question", "QuestionOfItems")


def _answer(schema: str, whole: Shape, event: Choice) -> JSON:
    """Describe both forms of an answer; `event` is the data of each event of a stream."""
    errors = (400, 401, 403, 404, 409, 413, 422, 429, 502, 503, 504)
    operation = _operation("One answer, whole or streamed", *errors, answer=whole)
    operation["responses"]["200"]["content"]["text/event-stream"] = {"schema": event.ref}
    return _asking(operation, schema)


def _embeddings() -> JSON:
    operation = _operation(
        "One vector for each text", 400, 401, 403, 404, 413, 429, 502, 503, 504, answer=embeddings_shapes.ANSWER
    )
    return _asking(operation, "EmbeddingRequest")


def _count() -> JSON:
    operation = _operation(
        "The estimated tokens of a request", 400, 401, 403, 404, 413, 429, 502, answer=messages_shapes.COUNT
    )
    return _in_messages_shape(_asking(operation, "CountRequest"))


def _in_messages_shape(operation: JSON) -> JSON:
    """Describe the errors as those of the Messages API."""
    wrong = {"application/json": {"schema": {"$ref": "#/components/schemas/MessagesError"}}}
    answers = {
        status: answer if status == "200" else {**answer, "content": wrong}
        for status, answer in operation["responses"].items()
    }
    return {**operation, "responses": answers}
