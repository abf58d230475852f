"""A model server of its own whose simulated models have known quirks."""
