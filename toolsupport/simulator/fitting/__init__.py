"""Constrained decoding of the simulated models: any intention becomes a text that fits the schema of a request."""
