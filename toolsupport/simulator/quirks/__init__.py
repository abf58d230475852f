"""How each simulated model behaves: a function from its prompt to its reply."""
