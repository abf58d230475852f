"""How each simulated model behaves: a function from what it is shown to what it says."""
