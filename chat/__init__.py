"""Chats of a person with models and tools, one turn at a time."""
