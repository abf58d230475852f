"""The pages of models, servers and accounts."""
