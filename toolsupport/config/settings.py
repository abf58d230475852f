"""Django's settings; values that an operator may change come from environment.py."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from toolsupport.config import application_paths, environment, environment_values, restore_journal, signing_key
from toolsupport.core import redaction
from toolsupport.core.user_models import MOST_ENTRIES

# All files that a process of the site makes (database, copies, journals, files of chats) are for its user alone.
os.umask(0o077)

ENV = environment.read()
DATA_DIR = environment.data_dir(ENV)
DATABASES = {"default": environment.database(ENV, DATA_DIR)}
# Before anything in it is read, the signing key included.
restore_journal.finish(DATA_DIR, DATABASES["default"])

SECRET_KEY = signing_key.of_site(ENV, DATA_DIR)
SECRET_KEY_FALLBACKS = ENV["TOOLSUPPORT_SECRET_KEY_FALLBACKS"]
DEBUG = ENV["TOOLSUPPORT_DEBUG"]
ALLOWED_HOSTS = ENV["TOOLSUPPORT_ALLOWED_HOSTS"]
ORIGINS: list[str] = ENV["TOOLSUPPORT_ORIGINS"] or ["http://127.0.0.1:8000", "http://localhost:8000"]
CSRF_TRUSTED_ORIGINS = [origin for origin in ORIGINS if "://" in origin]

INSTALLED_APPS = [
    "toolsupport.apps.ToolsupportConfig",
    "chat.apps.ChatConfig",
    "channels",
    "django_htmx",
    "template_partials",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
]

MIDDLEWARE = [
    "toolsupport.web.request_log.Accounted",
    "toolsupport.web.security_headers.ContentSecurityPolicy",
    "toolsupport.web.api_errors.JsonErrors",
    "toolsupport.web.storage_errors.StorageErrors",
    "toolsupport.web.refused_methods.NoTrace",
    "toolsupport.web.refused_methods.form_addresses",
    "django.middleware.security.SecurityMiddleware",
    "servestatic.middleware.ServeStaticMiddleware",
    # Form tokens are masked differently in every response, and the length varies, against BREACH.
    "toolsupport.web.page_compression.PageCompression",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "toolsupport.web.host_check.HostCheck",
    "django.middleware.csrf.CsrfViewMiddleware",
    "toolsupport.web.unstorable_texts.NoNul",
    "toolsupport.web.authentication.session_person.SessionPerson",
    "toolsupport.web.authentication.trusted_header.TrustedHeader",
    "toolsupport.web.authentication.api_key_auth.Bearer",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "toolsupport.config.urls"
ASGI_APPLICATION = "toolsupport.config.asgi.application"
CHANNEL_LAYERS = environment.channel_layers(ENV)

TEMPLATES = [
    {
        "BACKEND": "toolsupport.web.template_engine.FreeingTemplates",
        "NAME": "django",  # by which the partials find it
        "DIRS": [application_paths.asset("templates")],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "toolsupport.web.pages.navigation.navigation",
            ],
        },
    }
]

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

CSRF_FAILURE_VIEW = "toolsupport.web.pages.errors.stale_form"
LOGIN_URL = "/login/"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/login/"
# How long the link of an invitation works.
PASSWORD_RESET_TIMEOUT = 7 * 24 * 60 * 60
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},  # 8 characters
    {"NAME": "toolsupport.registry.people.password_rules.GuessablePasswordValidator"},
]

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True

STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [application_paths.asset("static")]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "toolsupport.web.static_bundles.BundlingStorage"},
}
# Off where `collectstatic` has run (asgi.py).
SERVESTATIC_USE_FINDERS = True
SERVESTATIC_AUTOREFRESH = DEBUG

# Over plain http on loopback (the embedded default) cookies cannot be Secure; behind https they are.
BEHIND_HTTPS = all(origin.startswith("https://") for origin in ORIGINS)
SESSION_ENGINE = "toolsupport.registry.people.session_store"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = BEHIND_HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_HTTPS else None
SECURE_HSTS_SECONDS = 31_536_000 if BEHIND_HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = BEHIND_HTTPS
SECURE_SSL_REDIRECT = BEHIND_HTTPS
# Health checks and scrapers ask a process itself (toolsupport/web/host_check.py).
SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz|metrics)\Z"]
# The https warnings of `check --deploy` do not apply to a site that only this machine can reach.
_LOOPBACK = all(urlsplit(origin).hostname in ("127.0.0.1", "localhost", "::1") for origin in ORIGINS)
SILENCED_SYSTEM_CHECKS = [f"security.W{number}" for number in ("004", "008", "012", "016")] if _LOOPBACK else []
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
X_FRAME_OPTIONS = "DENY"

DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024
FILE_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024
# The preview of an import sends up to two fields for each model of its file.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 2 * MOST_ENTRIES + 100

WORKSPACES_DIR = DATA_DIR / "workspaces"

# The address of this process's own Simulator; `serve` sets it after starting one.
SIMULATOR_URL = ""

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "text": {"()": "toolsupport.config.logs.TextFormatter"},
        "json": {"()": "toolsupport.config.logs.JsonFormatter"},
    },
    "filters": {"client_faults": {"()": "toolsupport.config.logs.ClientFaults"}},
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": ENV["TOOLSUPPORT_LOG"],
            "filters": ["client_faults"],
        }
    },
    "root": {"handlers": ["stderr"], "level": "WARNING"},
    "loggers": {
        "toolsupport": {"level": "INFO"},
        "chat": {"level": "INFO"},
        # Django's own handler would write past ours.
        "django": {"handlers": [], "level": "INFO", "propagate": True},
        "django.server": {"handlers": [], "propagate": True},
    },
}
redaction.add_secrets(*ENV[environment.SERVER_KEYS].values())
redaction.add_secrets(*SECRET_KEY_FALLBACKS, *ENV["TOOLSUPPORT_ENCRYPTION_KEYS"])
redaction.add_secrets(ENV["TOOLSUPPORT_OIDC_CLIENT_SECRET"])
redaction.add_secrets(SECRET_KEY, ENV["TOOLSUPPORT_ADMIN"].partition(":")[2], ENV["TOOLSUPPORT_METRICS_TOKEN"])
_ADDRESSES = (ENV[name] for name in ("DATABASE_URL", "REDIS_URL", "TOOLSUPPORT_TRACES"))
redaction.add_secrets(*(password for url in _ADDRESSES for password in environment_values.passwords(url)))
