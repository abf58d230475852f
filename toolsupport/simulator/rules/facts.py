"""Parses a request to remember something as a fact about a subject."""

from __future__ import annotations

import json
import re

SUBJECT = re.compile(r"(?:my |the |our )?(?P<subject>.{1,80}?)\s+(?:is|are|was|were|has|have|=)\s", re.IGNORECASE)


def values(said: str) -> dict[str, str]:
    """Return the arguments for a tool that stores facts about subjects."""
    about = SUBJECT.match(said)
    subject = about["subject"] if about else said.rstrip(".!")
    return {"facts": json.dumps([said]), "subject": subject, "sort": "fact"}
