"""Stores that a server dropped or refused the schema of a reply, although a test had found that it enforces schemas."""

from __future__ import annotations

from django.db import transaction

from toolsupport.core.events import SchemaDropped, SchemaRefused
from toolsupport.core.sentences import sentence
from toolsupport.models import ModelProfile
from toolsupport.registry.knowledge import effective_values, overrides
from toolsupport.registry.knowledge.overrides import NewOverride

# Event → the capability it lowers, the disproved value, and the new one.
LOWERED = {
    SchemaDropped: ("constrains", "enforced", "accepted"),
    SchemaRefused: ("constrains_patterns", True, False),
}


@transaction.atomic
def learn(profile_id: int, build_key: str, fault: SchemaDropped | SchemaRefused) -> None:
    """Lower the capability for this build. A person's decision stays, and so does a finding about another build.

    A schema that is refused as a whole shows nothing about others: it may only have been too large.
    """
    profile = ModelProfile.objects.select_related("server").filter(pk=profile_id).first()
    whole = isinstance(fault, SchemaRefused) and fault.part != "keywords"
    if whole or profile is None or profile.build.key != build_key:
        return
    capability, before, after = LOWERED[type(fault)]
    held = effective_values.known(profile)[capability]
    if held.source == "user_confirmed" or held.value not in (before, None):
        return
    text = fault.text if isinstance(fault, SchemaDropped) else fault.message
    code = "schema_dropped_in_use" if isinstance(fault, SchemaDropped) else "pattern_refused_in_use"
    reason = sentence(code, text=text) if code == "schema_dropped_in_use" else sentence(code, message=text)
    overrides.measure(NewOverride(profile_id, capability, after, "auto_detected", reason=reason))
