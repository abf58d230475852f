"""Tools of other programs, reached by the Model Context Protocol; the SDK is imported when a server is first asked."""
