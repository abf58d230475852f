"""Tests of how simulated models understand and answer."""
