"""Rows of exams of models."""
