"""Tests of the simulator's reading."""
