"""Runs costly work on untrusted text in a few processes that can be killed."""
