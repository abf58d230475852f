"""Which role and name the claims of a provider give, and which addresses are asked."""

from __future__ import annotations

from typing import Any

from tests.tables import every
from toolsupport.core import oidc_rules

ROLES = ("viewer", "user", "reviewer", "admin")


@every(
    ("claim", "claims", "role"),
    [
        ("groups", {"groups": ["user", "reviewer"]}, "reviewer"),
        ("realm_access.roles", {"realm_access": {"roles": ["admin"]}}, "admin"),
        ("https://corp.example/roles", {"https://corp.example/roles": "reviewer"}, "reviewer"),
        ("resource_access.my.client.roles", {"resource_access": {"my.client": {"roles": ["viewer"]}}}, "viewer"),
        ("a.b", {"a.b": "user", "a": {"b": ["admin"]}}, "admin"),
        ("cognito:groups", {"cognito:groups": ["Admin", "admin "]}, ""),
        ("groups.0", {"groups": ["admin"]}, ""),
        ("groups", {"groups": {"admin": 1}}, ""),
        ("groups", {"groups": True}, ""),
        ("groups", {}, ""),
        ("", {"": "admin"}, "admin"),
    ],
)
def test_the_role_in_a_claim(claim: str, claims: dict[str, Any], role: str) -> None:  # P4
    assert oidc_rules.role_of(claims, claim, ROLES) == role


@every(
    ("claims", "name"),
    [
        ({"preferred_username": "dora", "email": "d@x", "email_verified": True}, ("dora", True)),
        ({"preferred_username": "d o r a"}, ("dora", False)),
        ({"preferred_username": "\uff44ora"}, ("dora", False)),
        ({"preferred_username": "\u1100!\u1161"}, ("\uac00", False)),
        ({"preferred_username": "x" * 151}, ("x" * 150, False)),
        ({"preferred_username": ["dora"], "sub": "7"}, ("7", True)),
        ({"preferred_username": "", "email": "d@x", "email_verified": True}, ("d@x", True)),
        ({"email": "d@x", "email_verified": "true", "sub": "7"}, ("7", True)),
        ({"preferred_username": "<>", "sub": "\0"}, ("", False)),
    ],
)
def test_the_name_in_the_claims(claims: dict[str, Any], name: tuple[str, bool]) -> None:  # P4
    assert oidc_rules.name_of(claims) == name


@every(
    "url",
    ["https://id.example\\.evil.example/", "https://id.example/\n", "https://me@id.example/", "https://id.example/#x",
     "http://id.example/", "https:///x", "https://id.example:port/", "https://[::1", "https://\uff49d.example/", ""],
)  # fmt: skip
def test_addresses_that_are_never_asked(url: str) -> None:  # P4
    assert oidc_rules.origin(url) == "" and not oidc_rules.same_origin(url, "https://id.example/")


def test_equal_origins() -> None:
    assert oidc_rules.same_origin("https://ID.example:443/token", "https://id.example")
    assert not oidc_rules.same_origin("https://id.example:8443/token", "https://id.example")
    assert oidc_rules.origin("http://127.0.0.1:9/x") == "http://127.0.0.1:9"
