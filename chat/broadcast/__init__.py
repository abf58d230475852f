"""Server frames and their delivery to open pages, in this process and in others."""
