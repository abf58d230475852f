"""Parses a request to remember something as a fact about a subject."""

from __future__ import annotations

import json
import re

SUBJECT = re.compile(r"(?:my |the |our )?(?P<subject>.{1,80}?)\s+(?:is|are|was|were|has|have|=)\s", re.IGNORECASE)


def values(response: str) -> dict[str, str]:
    """Return the arguments for a tool that stores facts about subjects."""
    about = SUBJECT.match(response)
    subject = about["subject"] if about else response.rstrip(".!")
    return {"facts": json.dumps([response]), "subject": subject, "sort": "fact"}
