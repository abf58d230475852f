"""Settings of a conversation for its turns."""
