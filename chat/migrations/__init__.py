"""Changes of the rows, in order."""
