"""Model servers: rows, addresses, encrypted keys."""
