"""The person behind a socket, and shared conversations."""
