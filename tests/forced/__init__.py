"""Measurements of constrained decoding: schemas that compile, noise that fits, campaigns against enforcing servers."""
