"""The simulator's protocols."""
