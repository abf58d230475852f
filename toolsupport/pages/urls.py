"""The addresses of the pages of models, servers, people and accounts."""

from __future__ import annotations

from django.urls import URLPattern, path

from toolsupport.pages import account, accounts, api_keys, health, imports, model_api, models, people, servers

PATHS: list[URLPattern] = [
    path("models/", models.matrix, name="models"),
    path("models/import/", imports.take, name="models-import"),
    path("models/import/merge/", imports.merge, name="models-import-merge"),
    path("models/export/", imports.export, name="models-export"),
    path("models/<int:profile_id>/", models.model, name="model"),
    path("models/<int:profile_id>/override/", models.override, name="model-override"),
    path("models/<int:profile_id>/options/", models.options, name="model-options"),
    path("api/models", model_api.listed, name="api-models"),
    path("api/models/<path:model_id>", model_api.shown, name="api-model"),
    path("servers/", servers.listed, name="servers"),
    path("servers/add/", servers.add, name="server-add"),
    path("servers/refresh/", servers.refresh, name="servers-refresh"),
    path("servers/<int:server_id>/check/", servers.check, name="server-check"),
    path("servers/<int:server_id>/switch/", servers.switch, name="server-switch"),
    path("people/", people.listed, name="people"),
    path("people/invite/", people.invite, name="person-invite"),
    path("people/<int:person_id>/link/", people.new_link, name="person-link"),
    path("people/<int:person_id>/role/", people.role, name="person-role"),
    path("people/<int:person_id>/switch/", people.switch, name="person-switch"),
    path("account/", account.account, name="account"),
    path("account/password/", account.password, name="account-password"),
    path("account/sign-out-everywhere/", account.sign_out_everywhere, name="sign-out-everywhere"),
    path("account/keys/", api_keys.create, name="api-key-create"),
    path("account/keys/<int:key_id>/revoke/", api_keys.revoke, name="api-key-revoke"),
    path("account/code/", api_keys.in_code, name="in-code"),
    path("setup/", accounts.setup, name="setup"),
    path("join/", accounts.join, name="join"),
    path("login/", accounts.sign_in, name="login"),
    path("logout/", accounts.sign_out, name="logout"),
    path("admin/login/", accounts.admin_sign_in, name="admin-sign-in"),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", health.metrics, name="metrics"),
]
