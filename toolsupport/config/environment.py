"""Defines the settings that are read from environment variables, in one table with defaults and meanings."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from toolsupport.config import application_paths
from toolsupport.config.environment_values import (
    ConcealedError,
    count,
    networks,
    number,
    one_of,
    origins,
    secret_keys,
    switch,
    text,
    whole,
    words,
)
from toolsupport.core.errors import ConfigError
from toolsupport.core.team_switches import SWITCHES, Switch


@dataclass(frozen=True, slots=True)
class EnvironmentVariable:
    """One setting. `name` is the variable's name, `default` its value as written in the environment."""

    name: str
    default: str
    parse: Callable[[str], Any]
    meaning: str


def _variable_of(declared: Switch) -> EnvironmentVariable:
    """Build the environment variable of a team switch from the declaration of the switch."""
    parse = switch if isinstance(declared.default, bool) else one_of(*declared.values)
    default = str(int(declared.default)) if isinstance(declared.default, bool) else declared.default
    return EnvironmentVariable(declared.variable, default, parse, declared.text.reference)


def _quota(name: str, what: str) -> EnvironmentVariable:
    meaning = f"{what} of one person, with all of their API keys, in UTC. /quotas/ sets others. 0: no limit."
    return EnvironmentVariable(f"TOOLSUPPORT_QUOTA_{name}", "0", number, meaning)


def _kept(kind: str, what: str) -> EnvironmentVariable:
    return EnvironmentVariable(f"TOOLSUPPORT_KEEP_{kind}_DAYS", "0", whole(0, 36_500), f"{what} 0: kept for ever.")


VARIABLES = (
    EnvironmentVariable(
        "TOOLSUPPORT_DATA_DIR",
        "",
        text,
        "Directory of the database, keys and chat files. Unset: `data` in the repository; for an installed package "
        "`toolsupport` in `XDG_DATA_HOME`, which is `~/.local/share` where it is not set.",
    ),
    EnvironmentVariable(
        "TOOLSUPPORT_SECRET_KEY", "", text, "Signing key. Unset: generated once and stored in the data directory."
    ),
    EnvironmentVariable(
        "TOOLSUPPORT_SECRET_KEY_FALLBACKS", "", words, "Former signing keys, which still count while they are replaced."
    ),
    EnvironmentVariable(
        "TOOLSUPPORT_ENCRYPTION_KEYS",
        "",
        secret_keys,
        "Keys of stored secrets, each of 32 characters or more: the first one encrypts, each decrypts. Unset: "
        "`rotate_encryption_key` keeps them.",
    ),
    EnvironmentVariable(
        "TOOLSUPPORT_ALLOWED_HOSTS",
        "127.0.0.1,localhost,[::1]",
        words,
        "Host names that the site accepts. Unset: these, and the --host of `serve`.",
    ),
    EnvironmentVariable("TOOLSUPPORT_ORIGINS", "", origins, "Full origins of browsers. Unset: the address of `serve`."),
    EnvironmentVariable(
        "TOOLSUPPORT_TRUSTED_PROXIES",
        "",
        networks,
        "Addresses or networks of proxies: their X-Forwarded-For counts, and they may open more connections. "
        "Unset: behind https those of this machine and of private networks.",
    ),
    EnvironmentVariable(
        "TOOLSUPPORT_DEBUG", "0", switch, "Show Django's debug pages. Never on a machine that others reach."
    ),
    EnvironmentVariable(
        "DATABASE_URL",
        "",
        text,
        "sqlite:///path or postgresql://user:password@host/name. Unset: SQLite in the data directory.",
    ),
    EnvironmentVariable(
        "REDIS_URL",
        "",
        text,
        "redis://host:6379, for several starts of one site. Unset: one, also with --processes.",
    ),
    EnvironmentVariable("OLLAMA_HOST", "", text, "Address of an Ollama server. Unset: 127.0.0.1:11434 if it answers."),
    EnvironmentVariable("TOOLSUPPORT_SERVERS", "", words, "More servers, as name=kind+url, separated by commas."),
    EnvironmentVariable(
        "TOOLSUPPORT_SERVER_<NAME>_KEY",
        "",
        text,
        "API key of the server with that name. Replace all but letters and digits by _.",
    ),
    EnvironmentVariable(
        "TOOLSUPPORT_SIMULATOR",
        "auto",
        one_of("auto", "on", "off"),
        "Simulated models: auto shows them while no other server answers.",
    ),
    EnvironmentVariable(
        "TOOLSUPPORT_ADMIN", "", text, "name:password of the first admin. Unset: `serve` prints a set-up address."
    ),
    EnvironmentVariable("TOOLSUPPORT_PASSWORD_SIGN_IN", "1", switch, "Let people sign in with a password."),
    EnvironmentVariable(
        "TOOLSUPPORT_OIDC_ISSUER", "", text, "Address of an OpenID Connect provider, as it names itself. Unset: none."
    ),
    EnvironmentVariable("TOOLSUPPORT_OIDC_CLIENT_ID", "", text, "The id of this site at the provider."),
    EnvironmentVariable("TOOLSUPPORT_OIDC_CLIENT_SECRET", "", text, "The secret of this site at the provider."),
    EnvironmentVariable("TOOLSUPPORT_OIDC_SCOPES", "openid profile email", text, "Scopes to ask the provider for."),
    EnvironmentVariable(
        "TOOLSUPPORT_OIDC_ROLE_CLAIM",
        "",
        text,
        "Claim whose values name roles, such as `groups` or `realm_access.roles`. Unset: roles are set on /people/.",
    ),
    EnvironmentVariable(
        "TOOLSUPPORT_OIDC_HOURS", "12", whole(1, 8_760), "Hours after which the provider is asked again, at the latest."
    ),
    EnvironmentVariable(
        "TOOLSUPPORT_TRUSTED_HEADER",
        "",
        text,
        "Header that names the signed-in person. It counts only from the addresses in TOOLSUPPORT_TRUSTED_PROXIES.",
    ),
    EnvironmentVariable(
        "TOOLSUPPORT_BREACHED_PASSWORDS",
        "",
        text,
        "File of stolen passwords to refuse: sorted SHA-1 digests, one on a line (docs/safety.md).",
    ),
    *(_variable_of(declared) for declared in SWITCHES),
    EnvironmentVariable(
        "TOOLSUPPORT_REFRESH_MINUTES", "10", number, "Minutes between two listings of models. 0: never."
    ),
    _kept("CHATS", "Days after its last change on which a chat is deleted with its files, unless it is pinned."),
    _kept("EXCHANGES", "Days after which the raw exchanges of a chat are deleted, unless it is pinned."),
    _kept("EVIDENCE", "Days after which requests and replies of tests and exams are deleted, unless in force."),
    _kept("AUDIT", "Days after which audited actions are deleted."),
    EnvironmentVariable("TOOLSUPPORT_RUNNING_TURNS", "200", count, "Answers that run at once in one process."),
    EnvironmentVariable(
        "TOOLSUPPORT_TURNS_PER_PERSON", "4", count, "Answers that run at once for one person in the chat."
    ),
    EnvironmentVariable(
        "TOOLSUPPORT_ANSWERS_PER_KEY", "64", count, "Answers that run at once for one API key in one process."
    ),
    EnvironmentVariable(
        "TOOLSUPPORT_PROGRAMS",
        "4",
        count,
        "Programs that run at once in one process, likewise shell commands, likewise database queries. Others wait.",
    ),
    EnvironmentVariable(
        "TOOLSUPPORT_WORK_PROCESSES",
        "2",
        count,
        "Processes that format, color and compare texts. They start when there is work and end after 30 idle seconds.",
    ),
    EnvironmentVariable("TOOLSUPPORT_SOCKETS_PER_PERSON", "50", count, "Open chat pages of one person in one process."),
    EnvironmentVariable(
        "TOOLSUPPORT_CONNECTIONS",
        "4096",
        count,
        "Open connections of one process. Fewer if the limit of open files is lower.",
    ),
    EnvironmentVariable(
        "TOOLSUPPORT_CONNECTIONS_PER_ADDRESS",
        "200",
        count,
        "Open connections of one IPv4 address or IPv6 /64 network. Not for proxies.",
    ),
    EnvironmentVariable(
        "TOOLSUPPORT_REQUIRE_SECOND_FACTOR",
        "off",
        one_of("off", "admins", "everyone"),
        "Whose sign-in with a password needs a second factor. The page People sets it where this is unset.",
    ),
    EnvironmentVariable(
        "TOOLSUPPORT_KEY_REQUESTS", "600", count, "Requests per minute with one API key in one process."
    ),
    _quota("REQUESTS_DAY", "Requests per day"),
    _quota("REQUESTS_MONTH", "Requests per month"),
    _quota("TOKENS_DAY", "Tokens per day"),
    _quota("TOKENS_MONTH", "Tokens per month"),
    EnvironmentVariable(
        "TOOLSUPPORT_MCP_STDIO", "", text, "JSON file with the MCP servers to start on this machine (docs/mcp.md)."
    ),
    EnvironmentVariable(
        "TOOLSUPPORT_WORKSPACE_MIB", "100", number, "Largest total size of the files of a chat, in MiB."
    ),
    EnvironmentVariable(
        "TOOLSUPPORT_EMBED_MODEL",
        "",
        text,
        "server/model that embeds texts for tool search. Unset: search by words only.",
    ),
    EnvironmentVariable("TOOLSUPPORT_LOG", "text", one_of("text", "json"), "Form of the log lines on standard error."),
    EnvironmentVariable(
        "TOOLSUPPORT_METRICS_TOKEN", "", text, "Bearer token for /metrics. Unset: only administrators read it."
    ),
    EnvironmentVariable(
        "TOOLSUPPORT_METRICS_LOOPBACK",
        "0",
        switch,
        "Let programs on this machine read /metrics without a token. Without effect behind a proxy with https.",
    ),
    EnvironmentVariable(
        "TOOLSUPPORT_TRACES", "", text, "Address of an OpenTelemetry collector (OTLP over HTTP). Unset: no traces."
    ),
    EnvironmentVariable(
        "TOOLSUPPORT_DRAIN_SECONDS", "20", number, "Seconds that running answers get when the server stops."
    ),
    EnvironmentVariable(
        "TOOLSUPPORT_FALLBACK_SECONDS",
        "600",
        number,
        "Seconds in which fallback models may begin an answer, counted from the first request.",
    ),
)


# The key in the result of `read` with the names of the set variables, which a page cannot change.
GIVEN = "given"
# The key with the API keys of servers, by the name in the variable.
SERVER_KEYS = "server keys"
_SERVER_KEY = re.compile(r"TOOLSUPPORT_SERVER_([A-Z0-9_]+)_KEY")


def unknown(environ: Mapping[str, str] = os.environ) -> list[str]:
    """Return the variables that look like a setting and are none."""
    known = {one.name for one in VARIABLES}
    ours = [name for name in environ if name.startswith("TOOLSUPPORT_") and not name.startswith("TOOLSUPPORT_TEST_")]
    return sorted(name for name in ours if name not in known and not _SERVER_KEY.fullmatch(name))


def read(environ: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """Return all variables, parsed. Raises ConfigError with the variable's name and the expected value."""
    values: dict[str, Any] = {GIVEN: frozenset(one.name for one in VARIABLES if environ.get(one.name))}
    keys = {found[1]: environ[name] for name in environ if (found := _SERVER_KEY.fullmatch(name))}
    values[SERVER_KEYS] = {name: key.strip() for name, key in keys.items()}  # some come from files with a line end
    for variable in VARIABLES:
        given = environ.get(variable.name, "") or variable.default
        try:
            values[variable.name] = variable.parse(given)
        except ConcealedError as error:
            raise ConfigError(f"{variable.name} cannot be used: {error}.") from None
        except ValueError as error:
            raise ConfigError(f"{variable.name}={given!r} cannot be used: {error}.") from error
    return values


def server_key(values: Mapping[str, Any], name: str) -> str:
    """Return the API key in the environment for the server of this name, or ""."""
    return str(values[SERVER_KEYS].get(re.sub(r"[^A-Z0-9]", "_", name.upper()), ""))


def data_dir(values: Mapping[str, Any]) -> Path:
    """Return the data directory; create it, readable by its owner only, if it is missing. Raises ConfigError."""
    remedy = "Set TOOLSUPPORT_DATA_DIR to a folder that the user of the site can write."
    try:
        path = application_paths.data_dir(values["TOOLSUPPORT_DATA_DIR"])
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
    except (OSError, RuntimeError) as error:
        raise ConfigError(f"The data directory cannot be made: {error}. {remedy}") from error
    return path


def database(values: Mapping[str, Any], directory: Path) -> dict[str, Any]:
    """Return Django's settings for DATABASE_URL. Raises ConfigError unless it is SQLite or PostgreSQL."""
    if not values["DATABASE_URL"]:
        return sqlite_file(str(_default_file(directory)))
    try:
        url = urlsplit(values["DATABASE_URL"])
        return DATABASES[url.scheme](url)
    except (KeyError, ValueError) as error:
        known = "sqlite:///path or postgresql://user:password@host/name"
        # The address may hold a password, so it is not repeated.
        raise ConfigError(f"DATABASE_URL cannot be used; write {known}.") from error


def _default_file(directory: Path) -> Path:
    """Return the database in the data directory. Raises ConfigError if only an older version's is there."""
    path = directory / "toolsupport.sqlite3"
    # Up to version 0.2 the path was read as an address, which ends at ? and #.
    former = Path(unquote(urlsplit(f"sqlite:///{path}").path)[1:])
    if former != path and former.is_file() and not path.exists():
        raise ConfigError(
            f"The database of this site is at {former}, where an older version put it. Move that file to {path}, and "
            "those beside it that end in -wal and -shm."
        )
    return path


def sqlite(url: SplitResult) -> dict[str, Any]:
    """Return settings for the path in an address: after two slashes, ? and # it would be another file."""
    if url.netloc or url.query or url.fragment or not url.path.strip("/"):
        raise ValueError("the address names no file")
    return sqlite_file(unquote(url.path)[1:])


def sqlite_file(path: str) -> dict[str, Any]:
    """Return settings with immediate transactions, a write-ahead log and full synchronisation to disk."""
    pragmas = "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;"
    return {
        "ENGINE": "toolsupport.config.sqlite",
        "NAME": path,
        "CONN_MAX_AGE": None,
        "OPTIONS": {"transaction_mode": "IMMEDIATE", "timeout": 20, "init_command": pragmas},
    }


def postgresql(url: SplitResult) -> dict[str, Any]:
    """Return settings with a connection pool (a new connection costs six times as much); `?sslmode=…` goes to the
    driver.
    """
    if not url.path.strip("/"):
        raise ValueError("the database has no name")
    return {
        "ENGINE": "toolsupport.config.postgresql",
        "NAME": unquote(url.path)[1:],
        "USER": unquote(url.username or ""),
        "PASSWORD": unquote(url.password or ""),
        "HOST": unquote(url.hostname or ""),  # the folder of a socket is written with %2F
        "PORT": str(url.port or ""),
        "CONN_MAX_AGE": 0,
        "CONN_HEALTH_CHECKS": True,
        "DISABLE_SERVER_SIDE_CURSORS": True,  # a pooler in transaction mode loses those open between transactions
        "OPTIONS": {
            "pool": dict(POOL),
            **NETWORK,
            # As `pg_stat_activity` shows it: `restore` refuses to run beside other processes.
            "application_name": f"toolsupport {os.getpid()}",
            **dict(parse_qsl(url.query)),
        },
    }


# `timeout` is how long one try waits for a free connection, in seconds; `toolsupport/config/postgresql` repeats it
# while all are in use. After `reconnect_timeout` the pool forgets a lost connection, and the next query tries again.
POOL = {"min_size": 2, "max_size": 20, "timeout": 0.5, "reconnect_timeout": 2.0}
# A connection that a firewall has dropped ends after 5 s; the driver's own limit is a quarter of an hour.
NETWORK = {
    "connect_timeout": "3",
    "tcp_user_timeout": "5000",
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "2",
}
ONE_PROCESS = "channels.layers.InMemoryChannelLayer"
DATABASES = {"sqlite": sqlite, "postgresql": postgresql, "postgres": postgresql}


def channel_layers(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the Channels settings for REDIS_URL, through which the processes of one site exchange messages."""
    url = values["REDIS_URL"]
    if not url:
        return {"default": {"BACKEND": ONE_PROCESS}}
    if urlsplit(url).scheme not in ("redis", "rediss", "unix"):
        raise ConfigError("REDIS_URL cannot be used; write redis://host:6379.")
    config = {"hosts": [url], "prefix": "toolsupport."}
    return {"default": {"BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer", "CONFIG": config}}
