"""Reads conversations in which tools are described in text."""
