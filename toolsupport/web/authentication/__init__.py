"""Authentication of programs by API key."""
