"""Computes the limits of connections from the settings and the limits of the system."""

from __future__ import annotations

from django.conf import settings

from toolsupport.core import client_address
from toolsupport.core.client_address import Network
from toolsupport.services.doctor import Finding
from toolsupport.web import connection_table
from toolsupport.web.connection_table import LOOPBACK, ConnectionLimits

FEW = 1000  # connections: fewer than one or two pages for each of about a hundred people


def limits() -> ConnectionLimits:
    """Raise the limit of open files as far as the system allows, and return the limits that fit into it."""
    largest = settings.ENV["TOOLSUPPORT_WORKSPACE_MIB"] * connection_table.MIB  # of an upload
    usual = ConnectionLimits()
    return ConnectionLimits(
        bodies=max(usual.bodies, 4 * largest),
        address_bodies=max(usual.address_bodies, 2 * largest),
        total=connection_table.within(connection_table.raise_file_limit(), settings.ENV["TOOLSUPPORT_CONNECTIONS"]),
        per_address=settings.ENV["TOOLSUPPORT_CONNECTIONS_PER_ADDRESS"],
        proxies=proxies(),
    )


def proxies() -> tuple[Network, ...]:
    """Return the networks of the proxies: this machine and the declared ones, else private ones behind https."""
    declared = settings.ENV["TOOLSUPPORT_TRUSTED_PROXIES"]
    return client_address.PRIVATE if settings.BEHIND_HTTPS and not declared else (*LOOPBACK, *declared)


def finding() -> Finding:
    """Report the limits that `serve` would have on this machine."""
    chosen, wanted = limits(), settings.ENV["TOOLSUPPORT_CONNECTIONS"]
    files = connection_table.raise_file_limit()
    words = f"up to {chosen.total} at once with {files} open files"
    if chosen.total < min(wanted, FEW):
        return Finding(
            "connections", None, f"{words}, fewer than usual. Raise the hard limit of open files (LimitNOFILE=)."
        )
    return Finding("connections", True, f"{words}, {chosen.per_address} of one address")
