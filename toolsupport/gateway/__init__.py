"""Lets programs that speak OpenAI's words use every model, whatever its own way of calling tools."""
