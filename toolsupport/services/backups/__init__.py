"""Backups of a whole site: database, files and keys in one archive, and how to restore it."""
