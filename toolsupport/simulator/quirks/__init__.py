"""Behaviours of the simulated models: functions from a prompt to a reply."""
