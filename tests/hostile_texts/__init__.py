"""Texts that are costly to read, and every place that reads untrusted texts."""
