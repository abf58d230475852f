"""Tests that take too long for every day."""
