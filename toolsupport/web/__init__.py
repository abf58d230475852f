"""HTTP for people and programs: pages, JSON API, authentication, the server with its limits."""
