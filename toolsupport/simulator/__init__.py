"""A simulated model server whose models have known quirks."""
