"""Turns as rows: accepted, claimed, recorded, resumed, ended."""
