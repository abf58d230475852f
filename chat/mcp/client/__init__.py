"""Client for tools of other programs, by the Model Context Protocol; the SDK is imported at the first use."""
