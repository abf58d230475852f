"""Tests of constrained decoding in the simulator."""
