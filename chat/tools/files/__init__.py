"""The files of one conversation on disk."""
