"""The simulator's answers in each protocol."""
