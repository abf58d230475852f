"""What a conversation sets for its turns."""
