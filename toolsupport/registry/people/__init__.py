"""People: accounts, permissions, sessions, API keys, the audit log."""
