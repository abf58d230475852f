"""The sandboxes of `bash` and `python_execution`."""
