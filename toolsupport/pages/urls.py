"""The addresses of the pages of models, servers and accounts."""

from __future__ import annotations

from django.urls import URLPattern, path

from toolsupport.pages import accounts, health, models, servers

PATHS: list[URLPattern] = [
    path("models/", models.matrix, name="models"),
    path("models/<int:profile_id>/", models.model, name="model"),
    path("models/<int:profile_id>/override/", models.override, name="model-override"),
    path("models/<int:profile_id>/options/", models.options, name="model-options"),
    path("servers/", servers.listed, name="servers"),
    path("servers/add/", servers.add, name="server-add"),
    path("servers/refresh/", servers.refresh, name="servers-refresh"),
    path("servers/<int:server_id>/check/", servers.check, name="server-check"),
    path("servers/<int:server_id>/switch/", servers.switch, name="server-switch"),
    path("setup/", accounts.setup, name="setup"),
    path("login/", accounts.sign_in, name="login"),
    path("logout/", accounts.sign_out, name="logout"),
    path("healthz", health.healthz, name="healthz"),
]
