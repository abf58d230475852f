"""Tests of the simulated models."""
