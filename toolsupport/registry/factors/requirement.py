"""Stores whose sign-in with a password needs a second factor by the rule of the team, and applies it."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from toolsupport.core.errors import NotAllowed
from toolsupport.models import Passkey, SecondFactor
from toolsupport.registry.people import admins_with_sign_in, audit_log
from toolsupport.registry.people.permissions import Action, may
from toolsupport.registry.settings import team_settings

KEY = "require_second_factor"
CHOICES = {"off": "Off", "admins": "Administrators", "everyone": "Everybody"}
OWN_FIRST = "Set up your own second factor first."
KEEP = "This site requires a second factor of you. Add another one before you remove the last one."

APP = Exists(SecondFactor.objects.filter(person=OuterRef("pk"), confirmed_at__isnull=False))
PASSKEY = Exists(Passkey.objects.filter(person=OuterRef("pk")))


def present() -> str:
    """Return the rule in force, a key of CHOICES."""
    return str(team_settings.get(KEY))


def locked() -> str:
    """Return the environment variable that decides, or ""."""
    return team_settings.KNOWN[KEY].variable if team_settings.locked(KEY) else ""


@transaction.atomic
def put(actor: User, rule: str) -> None:
    """Store the rule. Raises ValueError for an unknown one, NotAllowed (locked; the actor has no second factor)."""
    if locked():
        raise NotAllowed(f"{locked()} decides, and this page cannot change it.")
    if rule not in CHOICES:
        raise ValueError(f"Choose one of {', '.join(CHOICES.values())}.")
    if rule != "off" and without().filter(pk=actor.pk).exists():
        raise NotAllowed(OWN_FIRST)
    team_settings.put(KEY, rule)
    audit_log.write(actor.pk, "require_second_factor", "site", f"Required of: {CHOICES[rule].lower()}.")


def holds_for(person: User) -> bool:
    """Return whether the rule requires a second factor of this person."""
    rule = present()
    return rule == "everyone" or (rule == "admins" and may(person, Action.ADMINISTER))


def without() -> QuerySet[User]:
    """Return the active people with a password and no second factor."""
    return _with_password().filter(~APP, ~PASSKEY)


def some_have_one() -> bool:
    """Return whether an active person with a password has a second factor."""
    return _with_password().filter(APP | PASSKEY).exists()


def _with_password() -> QuerySet[User]:
    return User.objects.filter(is_active=True).exclude(admins_with_sign_in.WITHOUT_PASSWORD)
