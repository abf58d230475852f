"""Compares pages as a browser shows them: line breaks of a template are spaces."""

from __future__ import annotations


def flat(html: str) -> str:
    """The page with one space for each run of white space."""
    return " ".join(html.split())
