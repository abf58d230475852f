"""Tests of the bytes on the wires."""
