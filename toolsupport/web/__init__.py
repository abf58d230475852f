"""HTTP for people and programs: pages, JSON API, authentication, the bounded server."""
