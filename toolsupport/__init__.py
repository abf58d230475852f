"""Detects which models can call tools, and talks to each model in a way that makes tool calls work."""

__version__ = "0.2.0"
