"""Checks an installation for problems, one finding per check."""

from __future__ import annotations

import asyncio
import difflib
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from asgiref.sync import async_to_sync
from channels.db import database_sync_to_async as in_database
from channels.layers import get_channel_layer
from django.conf import settings
from django.contrib.auth.models import User
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http.request import validate_host
from django.utils import timezone

from toolsupport import providers
from toolsupport.config import environment
from toolsupport.config.application_paths import COMMAND
from toolsupport.core.errors import ConfigError, ProviderError
from toolsupport.core.history_sentences import counted
from toolsupport.core.types import Endpoint
from toolsupport.registry.people import admins_with_sign_in, api_keys, audit_log, breached_passwords, quotas
from toolsupport.registry.servers import key_ring, key_rotation, servers
from toolsupport.registry.servers.addresses import NamedAddress
from toolsupport.registry.testing import open_problems
from toolsupport.services import database_upgrade, refresh

PATIENCE = 5  # seconds
FULL_ORIGIN = re.compile(r"https?://[^/\s]+")  # as browsers send it, without a path
EXPIRES_SOON = 7  # days
SHORTEST_TOKEN, SHORTEST_KEY = 16, 32  # characters
USUAL_OLLAMA = NamedAddress("Ollama", "ollama", providers.PROVIDERS["ollama"].default_url)
MARKS = {
    open_problems.MODELS: "Changed since the last test: {}. The page Models lists them under “To test again”.",
    open_problems.QUOTAS: "Used up, or nearly: {}. The page /quotas/ shows which.",
    open_problems.SERVERS: "Without an answer, or without a setting for tools: {}. The page Servers shows which.",
}
_migrated = False


@dataclass(frozen=True, slots=True)
class Finding:
    """`ok` is True, False (broken) or None (for information); `words` describe the state and, if needed, the remedy."""

    what: str
    ok: bool | None
    words: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def examine() -> Iterator[Finding]:
    """Return all findings. Checks that need the tables are skipped if the database has none."""
    yield from (look() for look in NEED_NOTHING)
    database = tables()
    yield database
    if database.ok:
        for ask in NEED_TABLES:
            yield from ask()


def data_directory() -> Finding:
    path = Path(settings.DATA_DIR)
    if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        return Finding("data directory", False, f"{path} cannot be written. Make it writable for the user of the site.")
    open_to_others = path.stat().st_mode & 0o077
    if open_to_others:
        return Finding("data directory", None, f"Other users can read {path}. Restrict it: chmod 700 {path}")
    readable = _readable_by_others(path)
    if readable:
        words = (
            f"Other users can read {readable[0]} ({len(readable)} such files). Restrict them: chmod -R go-rwx {path}"
        )
        return Finding("data directory", None, words)
    return Finding("data directory", True, str(path))


def _readable_by_others(data: Path) -> list[str]:
    """Return files that other users may access, except the public static files and the files of chats."""
    found = []
    for folder, folders, files in os.walk(data):
        folders[:] = [name for name in folders if Path(folder, name) not in (data / "static", data / "workspaces")]
        for path in (Path(folder, name) for name in files):
            if not path.is_symlink() and path.exists() and path.stat().st_mode & 0o077:
                found.append(str(path))
    return sorted(found)


def _reason(error: DatabaseError) -> str:
    """Return why the database cannot be used. A connection pool reports only the time for which it waited."""
    if connection.vendor == "postgresql":
        import psycopg

        parameters = {name: value for name, value in connection.get_connection_params().items() if name != "pool"}
        try:
            psycopg.connect(**parameters).close()
        except psycopg.Error as cause:
            return str(cause).strip().partition("\n")[0].rstrip(".")
    return str(error)


def tables() -> Finding:
    try:
        executor = MigrationExecutor(connection)
        database_upgrade.refuse_newer(executor)
        plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except ConfigError as error:
        return Finding("database", False, str(error))
    except DatabaseError as error:
        return Finding("database", False, f"It cannot be used: {_reason(error)}. Check DATABASE_URL.")
    if plan:
        return Finding(
            "database", False, f"Migrations are missing ({len(plan)}). `{COMMAND} serve` applies them at its start."
        )
    return Finding("database", True, f"{connection.vendor}, up to date")


def migrated() -> bool:
    """Return True if the database answers and has every migration; success is cached."""
    global _migrated
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        _migrated = _migrated or bool(tables().ok)
    except DatabaseError:
        return False
    return _migrated


def origins() -> Finding:
    """Check that browsers from the configured origins are accepted, and that https is detected."""
    what, foreign = "origins", [one for one in settings.ORIGINS if not _answered(one)]
    if partial := [one for one in settings.ORIGINS if not FULL_ORIGIN.fullmatch(one)]:
        words = f"{partial[0]!r} is not an origin. TOOLSUPPORT_ORIGINS needs scheme, name and port: https://chat.example.org"
        return Finding(what, False, words)
    if foreign:
        return Finding(what, False, f"{foreign[0]} is not among the hosts. Add its name to TOOLSUPPORT_ALLOWED_HOSTS.")
    if len({urlsplit(one).scheme for one in settings.ORIGINS}) > 1:
        return Finding(what, None, "http and https are mixed, so cookies are sent unprotected. Use https only.")
    if settings.DEBUG and not all(_on_this_machine(one) for one in settings.ORIGINS):
        return Finding(what, False, "TOOLSUPPORT_DEBUG shows internal details to every visitor. Remove it.")
    return Finding(what, True, ", ".join(settings.ORIGINS))


def _answered(origin: str) -> bool:
    host = urlsplit(origin).hostname or ""
    return validate_host(f"[{host}]" if ":" in host else host, settings.ALLOWED_HOSTS)


def _on_this_machine(origin: str) -> bool:
    return urlsplit(origin).hostname in ("127.0.0.1", "localhost", "::1")


def stolen_passwords() -> Finding:
    path, what = settings.ENV[breached_passwords.VARIABLE], "stolen passwords"
    if not path:
        return Finding(what, True, "common passwords are refused; a larger list: TOOLSUPPORT_BREACHED_PASSWORDS")
    try:
        return Finding(what, True, f"{path}, {breached_passwords.check(path):,} bytes")
    except ConfigError as error:
        return Finding(what, False, str(error))


def signing_key() -> Finding:
    """Report where the signing key is kept; one that can be guessed is a fault: it signs sessions and links."""
    what, given = "signing key", "TOOLSUPPORT_SECRET_KEY" in settings.ENV["given"]
    if len(settings.SECRET_KEY) < SHORTEST_KEY:
        place = "TOOLSUPPORT_SECRET_KEY" if given else f"The key in {Path(settings.DATA_DIR) / 'secret_key'}"
        return Finding(what, False, f"{place} can be guessed. Use {SHORTEST_KEY} random characters or more.")
    return Finding(what, True, "from the environment" if given else "in the data directory")


def metrics() -> Finding:
    """Report the readers of the metrics; a token that can be guessed is a fault."""
    token, what = settings.ENV["TOOLSUPPORT_METRICS_TOKEN"], "metrics"
    if token and len(token) < SHORTEST_TOKEN:
        words = f"TOOLSUPPORT_METRICS_TOKEN can be guessed. Use {SHORTEST_TOKEN} characters or more."
        return Finding(what, False, words)
    readers = ["administrators", "programs with the token"] if token else ["administrators"]
    if settings.ENV["TOOLSUPPORT_METRICS_LOOPBACK"]:
        if settings.BEHIND_HTTPS:
            words = "TOOLSUPPORT_METRICS_LOOPBACK has no effect behind https. Set TOOLSUPPORT_METRICS_TOKEN instead."
            return Finding(what, None, words)
        readers.append("every program on this machine")
    return Finding(what, True, f"/metrics can be read by {', '.join(readers)}")


def layer() -> Finding:
    """Send a message through the channel layer and back, unless the layer is within this process."""
    what, chosen = "channel layer", settings.CHANNEL_LAYERS["default"]["BACKEND"]
    if chosen == environment.ONE_PROCESS:
        return Finding(what, True, "within one start, also with --processes; several need Redis")
    try:
        async_to_sync(_there_and_back)()
    except Exception as error:  # the client of that layer may raise anything
        return Finding(what, False, f"It does not answer ({type(error).__name__}). Is Redis running? See REDIS_URL.")
    return Finding(what, True, "Redis answers")


async def _there_and_back() -> None:
    channels = get_channel_layer()
    assert channels is not None
    name = await channels.new_channel()
    await channels.send(name, {"type": "doctor"})
    async with asyncio.timeout(PATIENCE):
        await channels.receive(name)


def administrator() -> Iterator[Finding]:
    """Check that at least one administrator can sign in with the present settings."""
    what, found = "administrator", admins_with_sign_in.administrators()
    if not found and not User.objects.exists():
        yield Finding(what, None, f"There is none yet. `{COMMAND} serve` prints the address to create one.")
    elif not found:
        yield Finding(what, False, f"No active one is left. Run: {COMMAND} createsuperuser --username NAME")
    elif not any(found.values()):
        words = f"None of them can sign in now: {', '.join(found)}. Run: {COMMAND} sign_in_link NAME"
        yield Finding(what, False, words)
    elif missing := [name for name, able in found.items() if not able]:
        words = f"{sum(found.values())} of {len(found)} can sign in. Without a way: {', '.join(missing)}"
        yield Finding(what, None, words)
    else:
        yield Finding(what, True, f"{len(found)}, who can sign in")


def audited() -> Iterator[Finding]:
    """Check that the audit log is intact."""
    broken = audit_log.broken_at()
    if broken is None:
        yield Finding("audit", True, "the chain is whole")
    else:
        yield Finding("audit", False, f"Row {broken} was changed, or the one before it is gone. Compare with a backup.")


def limits_of_use() -> Iterator[Finding]:
    """Report the quotas, and API keys that stop soon."""
    everyone, rows = quotas.of_environment(), quotas.table.rows()
    if rows or everyone.limits:
        whom = "every person has one" if everyone.limits else "the environment sets none"
        yield Finding("quotas", True, f"{whom}, {counted(len(rows), 'other')} on /quotas/")
    else:
        yield Finding("quotas", True, "none is set, so use is not limited")
    if soon := api_keys.expiring(EXPIRES_SOON):
        words = f"{counted(soon, 'key')} will expire within {EXPIRES_SOON} days. Their owners can create new ones."
        yield Finding("API keys", None, words)


def marks() -> Iterator[Finding]:
    """Report the marks that administrators see in the navigation."""
    counts = open_problems.counts()
    for kind, words in MARKS.items():
        if counts[kind]:
            yield Finding(kind, None, words.format(counts[kind]))


def encryption() -> Iterator[Finding]:
    """Report the age of the key that encrypts stored secrets, and the values that still need older keys."""
    what, remedy = "encryption key", f"Run: {COMMAND} rotate_encryption_key"
    try:
        ring, states = key_ring.keys(), Counter(value.state for value in key_rotation.values())
    except ConfigError as error:
        yield Finding(what, False, str(error))
        return
    if states[key_rotation.UNREADABLE]:
        words = f"No key can read {counted(states[key_rotation.UNREADABLE], 'stored secret')}. Enter them again."
        yield Finding(what, False, words)
    elif states[key_rotation.OLDER] or not ring[0].complete:
        words = (
            f"A rotation is not finished: {counted(states[key_rotation.OLDER], 'value')} under an older key. {remedy}"
        )
        yield Finding(what, None, words)
    elif len(ring) > 1 and not key_ring.from_environment():
        yield Finding(what, None, f"{_age(ring[0])}. No value needs the older one that is kept. {remedy} --drop-old")
    else:
        yield Finding(what, True, f"{_age(ring[0])}, encrypts {counted(states[key_rotation.CURRENT], 'value')}")


def _age(key: key_ring.RingKey) -> str:
    if key.made_at is None:
        return "from the environment" if key.secret else "derived from the signing key"
    days = (timezone.now() - key.made_at).days
    return f"made {counted(days, 'day')} ago"


def model_servers() -> Iterator[Finding]:
    try:
        asked = async_to_sync(_ask)()
    except ConfigError as error:
        yield Finding("servers", False, str(error))
        return
    if not asked:
        yield Finding("servers", None, f"None. Start Ollama, or add one: {COMMAND} add_server NAME URL --kind ollama")
    yield from asked


def simulator() -> Iterator[Finding]:
    mode = settings.ENV["TOOLSUPPORT_SIMULATOR"]
    words = {"off": "switched off", "on": "always shown", "auto": "shown while no other server answers"}[mode]
    yield Finding("simulator", True, f"{words} (TOOLSUPPORT_SIMULATOR={mode})")


def variables() -> Finding:
    """Report variables that look like a setting and are none: a wrong name has no effect."""
    what, unknown = "settings", environment.unknown()
    if not unknown:
        return Finding(what, True, f"{counted(len(settings.ENV['given']), 'variable')} set")
    like = difflib.get_close_matches(unknown[0], [one.name for one in environment.VARIABLES], 1)
    hint = f" Is {like[0]} meant?" if like else ""
    return Finding(what, None, f"{', '.join(unknown)}: there is no such setting, so it has no effect.{hint}")


Look = Callable[[], Finding]
NEED_NOTHING: tuple[Look, ...] = (data_directory, variables, origins, signing_key, stolen_passwords, metrics, layer)
Check = Callable[[], Iterator[Finding]]
NEED_TABLES: tuple[Check, ...] = (administrator, audited, limits_of_use, marks, encryption, model_servers, simulator)


async def _ask() -> list[Finding]:
    """Query every server that a start would query; nothing is stored."""
    try:
        ids, names = await in_database(servers.enabled_ids)(), await in_database(servers.names)()
        missing = [server for server in refresh.environment_servers() if server.name not in names]
        found = await asyncio.gather(*map(_listed, ids), *map(_unlisted, missing))
        return found or [one for one in [await _unlisted(USUAL_OLLAMA)] if one.ok]
    finally:
        await providers.close()


async def _listed(server_id: int) -> Finding:
    server = await in_database(servers.shown)(server_id)
    try:
        found = await _asked(server.name, await in_database(servers.endpoint)(server_id))
    except ConfigError as error:
        return Finding(f"server {server.name}", False, str(error))
    if found.ok is False and server.simulated:
        return Finding(found.what, None, f"It runs only while `{COMMAND} serve` runs.")
    return found


async def _unlisted(server: NamedAddress) -> Finding:
    found = await _asked(server.name, Endpoint(server.kind, server.base_url))
    return replace(found, words=f"{found.words} The next start adds it.")


async def _asked(name: str, endpoint: Endpoint) -> Finding:
    try:
        report = await providers.survey(endpoint)
    except ProviderError as error:
        hint = providers.provider(endpoint.kind).hint
        return Finding(f"server {name}", False, f"{error} {hint if hint not in str(error) else ''}".strip())
    return Finding(f"server {name}", True, f"{endpoint.base_url} answers, models: {len(report.models)}")
