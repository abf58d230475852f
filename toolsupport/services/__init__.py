"""Services on rows and servers: one exchange, refresh, learning, tests, periodic jobs."""
