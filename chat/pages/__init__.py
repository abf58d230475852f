"""The pages of the chat."""
