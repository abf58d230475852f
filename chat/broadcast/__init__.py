"""Server frames and their way to open pages, in this process and in others."""
