"""How a simulated model reads a conversation in which tools stand as words."""
