"""Counts of calls and tokens."""
