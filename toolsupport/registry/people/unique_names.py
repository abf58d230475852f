"""Keeps the names of accounts unique without regard to case."""

from __future__ import annotations

from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError

from toolsupport.registry import any_case


def hold() -> None:
    """Prevent other transactions from creating an account until this one ends.

    Without it, each of two transactions on PostgreSQL finds that a name is free, and no constraint ignores case.
    """
    Group.objects.select_for_update(no_key=True).filter(name="user").first()


def check(user: User) -> None:
    """Check the fields of a new account, and that its name is free. Raises ValidationError."""
    hold()
    user.full_clean(exclude=["password"])
    if User.objects.filter(any_case.same("username", user.username)).exists():
        raise ValidationError({"username": f"A person named {user.username} already exists."})
