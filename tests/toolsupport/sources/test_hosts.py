"""The host of a PostgreSQL database is judged by the address that is connected to."""

from __future__ import annotations

import socket
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from toolsupport.sources import postgresql
from toolsupport.sources.types import DatabaseSource, FailedConnection, SourceError


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names that were looked up."""
    names: list[str] = []
    addresses = {"inside": ["10.1.2.3"], "metadata": ["169.254.169.254"], "both": ["fd00:ec2::254", "10.9.9.9"]}

    def looked_up(host: str, *_: Any, **__: Any) -> list[Any]:
        names.append(host)
        if host not in addresses:
            raise socket.gaierror(-2, "Name or service not known")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, 0)) for one in addresses[host]]

    monkeypatch.setattr(socket, "getaddrinfo", looked_up)
    return names


@pytest.fixture
def connected(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What psycopg was asked to connect to; no connection is made."""
    found: list[dict[str, Any]] = []

    def connect(location: str, **_: Any) -> None:
        found.append(conninfo_to_dict(location))
        raise psycopg.OperationalError("not made")

    monkeypatch.setattr(psycopg, "connect", connect)
    return found


ROWS = [
    ("postgresql://u@inside/x", {"host": "inside", "hostaddr": "10.1.2.3"}),
    ("postgresql://u@both:6000/x", {"host": "both", "hostaddr": "10.9.9.9", "port": "6000"}),
    ("host=inside,both port=1,2", {"host": "inside,both", "hostaddr": "10.1.2.3,10.9.9.9", "port": "1,2"}),
    ("host=inside,both port=1", {"host": "inside,both", "hostaddr": "10.1.2.3,10.9.9.9", "port": "1,1"}),
    ("host=other hostaddr=10.1.1.1", {"host": "other", "hostaddr": "10.1.1.1"}),
    ("host=/run/postgresql", {"host": "/run/postgresql"}),
    ("host=127.0.0.1", {"host": "127.0.0.1"}),
    ("host=0.0.0.0", {"host": "0.0.0.0"}),
    ("dbname=x", {}),
]


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize(("location", "wanted"), ROWS)
def test_a_name_is_looked_up_before(connected: list[dict[str, Any]], location: str, wanted: dict[str, str]) -> None:
    with pytest.raises(FailedConnection, match="not made"):
        postgresql.shapes(DatabaseSource("postgresql", location))
    (found,) = connected
    assert {name: found[name] for name in ("host", "hostaddr", "port") if name in found} == wanted


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize(
    "location", ["postgresql://u@metadata/x", "host=inside,metadata", "host=inside hostaddr=100.100.100.200"]
)
def test_cloud_metadata_is_never_asked(connected: list[dict[str, Any]], location: str) -> None:
    with pytest.raises(SourceError, match="never contacted"):
        postgresql.shapes(DatabaseSource("postgresql", location))
    assert connected == []


def test_a_name_is_looked_up_once(asked: list[str], connected: list[dict[str, Any]]) -> None:
    with pytest.raises(psycopg.OperationalError, match="failed to resolve host 'gone'"):
        postgresql.shapes(DatabaseSource("postgresql", "host=gone"))
    assert asked == ["gone"] and connected == []
