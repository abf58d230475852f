"""Databases that models may read."""
