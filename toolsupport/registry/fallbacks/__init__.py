"""Fallback models: their settings, and the chain at one moment."""
