"""JSON about models for programs."""
