"""A person, a model, tools, one turn at a time."""
