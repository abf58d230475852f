"""Exams: cases with expected calls, and the grades of a model's calls."""
