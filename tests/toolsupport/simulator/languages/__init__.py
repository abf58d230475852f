"""Tests of the simulator's languages."""
