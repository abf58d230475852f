"""Runs the cases of an exam with a model. Tools are never executed: recorded results answer the calls."""
