"""Reads the time zone of the reader, in which pages show times."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.http import HttpRequest

COOKIE = "timezone"  # static/js/times.js stores it


def of(request: HttpRequest) -> tzinfo:
    """Return the zone that the browser has stored; UTC for programs and for names that are none."""
    try:
        return ZoneInfo(request.COOKIES.get(COOKIE, "")[:64])
    except (ValueError, OSError, ZoneInfoNotFoundError):
        return UTC


def beginning(day: date, zone: tzinfo) -> datetime:
    """Return the moment in UTC at which a day begins there; the first day of the calendar may begin too early."""
    try:
        return datetime.combine(day, time.min, zone).astimezone(UTC)
    except OverflowError:
        return datetime.combine(day, time.min, UTC)
