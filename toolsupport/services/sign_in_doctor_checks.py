"""Checks the ways to sign in: asks the provider, and finds settings that admit no person, or every person."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Iterator
from email.utils import parsedate_to_datetime

import httpx
from asgiref.sync import async_to_sync
from django.conf import settings

from toolsupport.config.application_paths import COMMAND
from toolsupport.core import oidc_rules
from toolsupport.core.errors import ConfigError, NotAllowed
from toolsupport.registry.factors import requirement
from toolsupport.services import oidc_client
from toolsupport.services.doctor import Finding

# Headers that clients send or other settings use: the value is never a name that a proxy states.
CLIENTS_OWN = ("authorization", "cookie", "host", "origin", "referer", "user-agent", "accept", "from")
FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip")


def findings() -> Iterator[Finding]:
    """Return a finding for each; none needs the tables."""
    yield ways()
    yield from header()
    yield from provider()


def ways() -> Finding:
    """Check that people can sign in."""
    what, env = "sign-in", settings.ENV
    issuer, name = env["TOOLSUPPORT_OIDC_ISSUER"], env["TOOLSUPPORT_TRUSTED_HEADER"]
    if issuer and not (oidc_rules.origin(issuer) and env["TOOLSUPPORT_OIDC_CLIENT_ID"]):
        words = "TOOLSUPPORT_OIDC_ISSUER needs an https address, and TOOLSUPPORT_OIDC_CLIENT_ID the id of this site."
        return Finding(what, False, words)
    found = ["password"] * env["TOOLSUPPORT_PASSWORD_SIGN_IN"] + ["provider"] * bool(issuer)
    found += [f"header {name}"] * bool(name)
    if not found:
        words = f"No way to sign in is left. Set TOOLSUPPORT_PASSWORD_SIGN_IN=1, or run: {COMMAND} sign_in_link NAME"
        return Finding(what, False, words)
    return Finding(what, True, ", ".join(found))


def header() -> Iterator[Finding]:
    """Check that the header of a trusted proxy can name people, and that clients cannot send it themselves."""
    what, name = "trusted header", settings.ENV["TOOLSUPPORT_TRUSTED_HEADER"]
    proxies = settings.ENV["TOOLSUPPORT_TRUSTED_PROXIES"]
    if not name:
        return
    listed = ", ".join(map(str, proxies))
    if name.lower().replace("_", "-") in (*CLIENTS_OWN, *FORWARDED):
        words = f"{name} has another meaning. Let the proxy send a header of its own, such as X-Remote-User."
        yield Finding(what, False, words)
    elif not proxies:
        words = "TOOLSUPPORT_TRUSTED_HEADER has no effect: TOOLSUPPORT_TRUSTED_PROXIES names no proxy."
        yield Finding(what, False, words)
    elif any(network.prefixlen == 0 for network in proxies):
        words = f"Any client can sign in as any person: {listed} are all addresses. Name only your proxies"
        yield Finding(what, False, f"{words} in TOOLSUPPORT_TRUSTED_PROXIES.")
    elif any(network.num_addresses > 1 for network in proxies):
        words = f"Every program at {listed} can sign in as any person. Name single addresses"
        yield Finding(what, None, f"{words} in TOOLSUPPORT_TRUSTED_PROXIES, if you can.")
    else:
        yield Finding(what, True, f"{name} names people, from {listed}; the proxy must remove it from other requests")


def provider() -> Iterator[Finding]:
    """Ask the provider for its description, as a sign-in does, and compare its clock with that of this machine."""
    what, issuer = "sign-in provider", settings.ENV["TOOLSUPPORT_OIDC_ISSUER"]
    if not oidc_rules.origin(issuer):
        return  # without one, or reported with the ways to sign in
    try:
        date = async_to_sync(oidc_client.described)()
    except (ConfigError, NotAllowed) as error:
        yield Finding(what, False, f"{issuer}: {_fault(error)}")
        return
    apart = _apart(date)
    if abs(apart) > oidc_client.LEEWAY:
        side = "behind" if apart > 0 else "ahead of"
        words = f"The clock of this machine is {abs(apart):.0f} s {side} that of {issuer}, so no sign-in is accepted."
        yield Finding(what, False, f"{words} Set it right.")
    else:
        yield Finding(what, True, f"{issuer} answers")


def _apart(date: str) -> float:
    """Return how many seconds the clock of the provider is ahead; 0 if its answer has no time."""
    try:
        return parsedate_to_datetime(date).timestamp() - time.time()
    except ValueError:
        return 0


def _fault(error: Exception) -> str:
    """Return the fault of the provider or of the connection to it."""
    causes: list[BaseException] = []
    cause = error.__cause__
    while cause is not None and len(causes) < 10:
        causes.append(cause)
        cause = cause.__cause__ or cause.__context__
    for one in causes:
        if isinstance(one, socket.gaierror):
            return "Its name is not known (DNS). Compare TOOLSUPPORT_OIDC_ISSUER, and check the name server."
        if isinstance(one, ssl.SSLCertVerificationError):
            return f"Its certificate is not accepted (TLS): {one.verify_message}."
        if isinstance(one, ssl.SSLError):
            return f"It does not speak TLS as it should: {one.reason or one}."
        if isinstance(one, TimeoutError | httpx.TimeoutException):
            return f"It does not answer within {oidc_client.TIMEOUT:.0f} s."
        if isinstance(one, httpx.HTTPError) and not one.__cause__ and not one.__context__:
            return f"It does not answer: {str(one) or type(one).__name__}."
    return f"It cannot be reached: {causes[0]}." if causes and isinstance(causes[0], httpx.HTTPError) else str(error)


def required_factor() -> Finding:
    """Report who needs a second factor, and how many people with a password have none."""
    rule, missing = requirement.present(), requirement.without().count()
    whose = "not required" if rule == "off" else f"required of {requirement.CHOICES[rule].lower()}"
    words = f"{whose}; people with a password and without one: {missing}"
    if rule != "off" and not requirement.some_have_one():
        return Finding("second factor", None, f"{words}. No person has one yet: each sets one up before anything else.")
    return Finding("second factor", True, words)
