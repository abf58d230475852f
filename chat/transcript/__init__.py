"""The only access to the rows of conversations: sync functions, one transaction each."""
