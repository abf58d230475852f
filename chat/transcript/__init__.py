"""The only door to the rows of conversations: sync functions, one transaction each."""
