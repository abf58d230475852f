"""The Django project: settings, environment, addresses, ASGI application, logs, process metrics."""
