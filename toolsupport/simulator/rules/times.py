"""Finds the city and time zone in a question about the time."""

from __future__ import annotations

import re

# City → its IANA time zone.
CITIES = {
    "amsterdam": "Europe/Amsterdam",
    "auckland": "Pacific/Auckland",
    "bangkok": "Asia/Bangkok",
    "beijing": "Asia/Shanghai",
    "berlin": "Europe/Berlin",
    "cairo": "Africa/Cairo",
    "chicago": "America/Chicago",
    "delhi": "Asia/Kolkata",
    "denver": "America/Denver",
    "dubai": "Asia/Dubai",
    "hong kong": "Asia/Hong_Kong",
    "istanbul": "Europe/Istanbul",
    "johannesburg": "Africa/Johannesburg",
    "kathmandu": "Asia/Kathmandu",
    "lagos": "Africa/Lagos",
    "london": "Europe/London",
    "los angeles": "America/Los_Angeles",
    "madrid": "Europe/Madrid",
    "mexico city": "America/Mexico_City",
    "moscow": "Europe/Moscow",
    "mumbai": "Asia/Kolkata",
    "nairobi": "Africa/Nairobi",
    "new york": "America/New_York",
    "paris": "Europe/Paris",
    "rome": "Europe/Rome",
    "san francisco": "America/Los_Angeles",
    "sao paulo": "America/Sao_Paulo",
    "seoul": "Asia/Seoul",
    "shanghai": "Asia/Shanghai",
    "singapore": "Asia/Singapore",
    "sydney": "Australia/Sydney",
    "tokyo": "Asia/Tokyo",
    "toronto": "America/Toronto",
    "vienna": "Europe/Vienna",
    "zurich": "Europe/Zurich",
}
PLACE = re.compile(rf"\b(?:{'|'.join(CITIES)}|utc|[a-z]+/[a-z_]+(?:/[a-z_]+)?)\b", re.IGNORECASE)
CLOCK = re.compile(r"(?<![\d:])(?:[01]?\d|2[0-3]):[0-5]\d(?![\d:])")
ASKED = r"\b(?:what|what's|which|tell me|give me|current|convert)\b.*(?:\btime\b|\d:\d\d)"
NOW = re.compile(r"\btime\b.*\b(?:is it|now)\b|\b(?:current|local) time\b|\bthe time (?:in|at)\b", re.IGNORECASE)


def current(clause: str) -> dict[str, str] | None:
    """Return the place whose time is requested, UTC if none is named; None if the text has another meaning of time."""
    places = PLACE.findall(clause)
    if len(places) > 1 or not NOW.search(clause):
        return None
    place = places[0] if places else "UTC"
    return {"place": place, "zone": zone(place)}


def converted(clause: str) -> dict[str, str] | None:
    """Return the conversion of a time in one place to another place."""
    clock, places = CLOCK.search(clause), PLACE.findall(clause)
    if clock is None or len(places) != 2:
        return None
    asked_first = re.search(rf"\btime\b.*?\b{places[0]}\b.*{clock.group()}", clause, re.IGNORECASE)
    there, here = places if asked_first else reversed(places)
    values = {"place": there, "here": here, "zone_to": zone(there), "zone_from": zone(here)}
    return values | {"clock": clock.group().rjust(5, "0")}


def zone(place: str) -> str:
    """Return the zone of a place that `PLACE` found: by the table for a city; a zone's own name stays."""
    return CITIES.get(place.lower(), "UTC" if place.lower() == "utc" else place)
