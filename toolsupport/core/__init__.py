"""The pure rules: no await, no clock, no socket, no Django."""
