"""Django's database backend for PostgreSQL, which reports at once that the server is away."""
