"""How a simulated model understands words, finds a tool for them, and answers."""
