"""Lists the models as OpenAI does, each with its known tool support."""

from __future__ import annotations

from toolsupport.core.errors import NotFound
from toolsupport.core.json_shapes import TEXT, WHOLE, Shape, list_of
from toolsupport.core.types import JSON
from toolsupport.registry.models import api_catalogue

NOT_LISTED = ("gone", "not_seen", "disabled")
KNOWN = (
    *("tools", "format", "parallel", "streaming", "multi_turn", "thinking", "tools_thinking", "vision", "max_tools"),
)
# Each known capability has its value, its source and more.
FACTS = Shape("ModelFacts", {"status": TEXT, **{name: {"type": "object"} for name in KNOWN}})
MODEL = Shape("Model", {"id": TEXT, "created": WHOLE, "owned_by": TEXT, "toolsupport": FACTS.ref}, {"object": "model"})
LIST = Shape("Models", {"data": list_of(MODEL.ref)}, {"object": "list"})
SHAPES = (FACTS, MODEL, LIST)


def models() -> list[JSON]:
    """Return every model that is present, enabled and made for chats."""
    return [_model(one) for one in api_catalogue.listed() if one["chats"] and one["status"] not in NOT_LISTED]


def model(wanted: str) -> JSON:
    """Return one model, by `server/name` or a unique name. Raises NotFound."""
    found = api_catalogue.shown(wanted)
    if found["status"] in NOT_LISTED:
        raise NotFound(f"There is no model {wanted!r}.")
    return _model(found)


def _model(one: JSON) -> JSON:
    known = {name: one["capabilities"][name] for name in KNOWN}
    facts = FACTS(status=one["status"], **known)
    return MODEL(id=one["id"], created=one["created"], owned_by=one["server"], toolsupport=facts)
