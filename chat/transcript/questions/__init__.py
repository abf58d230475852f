"""Questions to people as rows."""
