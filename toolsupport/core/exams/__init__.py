"""Exams: cases with expected calls, and how the calls of a model are graded. Nothing is executed."""
