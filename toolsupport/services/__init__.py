"""What works on rows and servers together: one exchange, refresh, learning, tests, periodic jobs."""
