"""Formats untrusted text as safe HTML, within a worker."""
