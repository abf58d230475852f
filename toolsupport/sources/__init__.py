"""Databases that models may read: each query runs in a process of its own, which can be killed."""
