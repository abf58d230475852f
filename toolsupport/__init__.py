"""Which models can call tools, and how to talk to each so that they do."""
