"""OpenAI-compatible API, through which programs use every model, in any call format."""
