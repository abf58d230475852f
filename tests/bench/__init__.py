"""Measures speed against the figures the project promises."""
