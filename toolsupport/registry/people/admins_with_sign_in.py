"""Finds the administrators who can sign in with the present settings."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Q

from toolsupport.core import oidc_rules
from toolsupport.core.name_order import by_name
from toolsupport.models import ExternalIdentity
from toolsupport.registry.people import first_admin

WITHOUT_PASSWORD = Q(password__startswith="!") | Q(password="")


def administrators() -> dict[str, bool]:
    """Return the active administrators by name, each with whether a password, the provider or a proxy admits them."""
    able, env = Q(pk=None), settings.ENV
    if env["TOOLSUPPORT_PASSWORD_SIGN_IN"]:
        able |= ~WITHOUT_PASSWORD
    issuer = env["TOOLSUPPORT_OIDC_ISSUER"]
    if oidc_rules.origin(issuer) and env["TOOLSUPPORT_OIDC_CLIENT_ID"]:
        own = ExternalIdentity.objects.filter(person=OuterRef("pk"))
        # The first sign-in connects an account that has neither password nor provider, if the names are equal.
        able |= Exists(own.filter(issuer=issuer)) | (WITHOUT_PASSWORD & ~Exists(own))
    if env["TOOLSUPPORT_TRUSTED_HEADER"] and env["TOOLSUPPORT_TRUSTED_PROXIES"]:
        able |= ~Q(pk=None)
    everyone = User.objects.filter(first_admin.ADMINISTRATORS, is_active=True).distinct()
    admitted = set(everyone.filter(able).values_list("pk", flat=True))
    found = sorted(everyone.values_list("pk", "username"), key=lambda row: by_name(row[1]))
    return {name: pk in admitted for pk, name in found}
