"""Which models can call tools, and how to talk to each so that they do."""

__version__ = "0.2.0"
