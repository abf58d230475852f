"""Formats durations for people."""

from __future__ import annotations


def duration(milliseconds: int | None) -> str:
    """Format 120 as "120 ms", 8200 as "8.2 s", 75000 as "1 min 15 s"; nothing for None."""
    if milliseconds is None:
        return ""
    if milliseconds < 1000:
        return f"{milliseconds} ms"
    if milliseconds < 59_950:
        return f"{milliseconds / 1000:.1f} s".replace(".0 s", " s")
    minutes, seconds = divmod(round(milliseconds / 1000), 60)
    return f"{minutes} min {seconds} s"
