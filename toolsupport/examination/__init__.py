"""Runs the cases of an exam with a model; recorded results answer its calls."""
