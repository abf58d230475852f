"""Constrained decoding of the simulated models: an intended reply becomes text that fits the schema of a request."""
