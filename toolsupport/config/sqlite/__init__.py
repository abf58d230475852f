"""Django's database backend for SQLite, which compares letters of every language in any case."""
