"""Builds the JSON Schemas to which a server constrains a reply, so that its calls cannot be malformed."""

from toolsupport.core.constrained.call_schema import CALLS, call_schema
from toolsupport.core.constrained.closed_schema import REPLY, closed
from toolsupport.core.constrained.scalar_schema import SchemaRules

__all__ = ["CALLS", "REPLY", "SchemaRules", "call_schema", "closed"]
