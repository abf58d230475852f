"""Settings of the team and of single models."""
