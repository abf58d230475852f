"""Creates the first administrator."""

from __future__ import annotations

import secrets
from datetime import timedelta

from django.contrib.auth.models import Group, User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.crypto import salted_hmac

from toolsupport.core.errors import ConfigError, NotAllowed, NotFound
from toolsupport.models import Setting
from toolsupport.registry import any_case
from toolsupport.registry.people import unique_names

_TOKEN = "setup_token"
ADMINISTRATORS = Q(is_superuser=True) | Q(groups__name="admin")
SETUP_LASTS = timedelta(hours=24)
SAME_START = timedelta(minutes=1)


def needs_setup() -> bool:
    """Return True while no person can administer the site."""
    return not User.objects.filter(ADMINISTRATORS, is_active=True).exists()


def hold_administrators() -> None:
    """Prevent other transactions from removing an administrator until this one ends.

    Without it, each of two transactions on PostgreSQL still sees the administrator that the other one removes.
    """
    Group.objects.select_for_update(no_key=True).filter(name="admin").first()


@transaction.atomic
def new_setup_token() -> str:
    """Return a token for /setup/; it works once, and replaces the earlier one.

    Only a seed is stored, which yields the token together with the signing key. Processes that start at the same time
    get the same token, so that a site has one setup address.
    """
    row, _ = Setting.objects.select_for_update().get_or_create(key=_TOKEN, defaults={"value": secrets.token_hex(16)})
    if row.changed_at < timezone.now() - SAME_START:
        row.value = secrets.token_hex(16)
        row.save()
    return _token(row.value)


def token_opens(token: str) -> bool:
    """Return True while this token can create the first administrator: the newest one, for a day."""
    row = Setting.objects.filter(key=_TOKEN, changed_at__gt=timezone.now() - SETUP_LASTS).first()
    if row is None or not needs_setup():
        return False
    return secrets.compare_digest(_token(row.value).encode(), token.encode(errors="replace"))


@transaction.atomic
def create_admin(token: str, name: str, password: str) -> User:
    """Create the first administrator. Raises NotAllowed (used or wrong token), ValidationError (name, password).

    Deleting its row uses the token up: of two simultaneous requests, only one deletes it.
    """
    if not token_opens(token):
        raise NotAllowed("This set-up address was already used, or a newer one exists.")
    deleted, _ = Setting.objects.filter(key=_TOKEN).delete()
    if not deleted:
        raise NotAllowed("Another person used this set-up address a moment ago.")
    return _admin(name, password)


@transaction.atomic
def admin_from_environment(written: str) -> bool:
    """Create TOOLSUPPORT_ADMIN if the site has no administrator; return True if created. Raises ConfigError.

    An existing account of that name stays as it is: it may have been disabled or demoted on purpose.
    """
    name, colon, password = written.partition(":")
    if not (name.strip() and colon and password):
        raise ConfigError("TOOLSUPPORT_ADMIN should read name:password.")
    if not needs_setup() or User.objects.filter(any_case.same("username", name.strip())).exists():
        return False
    try:
        _admin(name, password)
    except ValidationError as error:
        raise ConfigError(f"TOOLSUPPORT_ADMIN cannot be used: {' '.join(error.messages)}") from error
    Setting.objects.filter(key=_TOKEN).delete()
    return True


def id_of(name: str) -> int:
    """Return the id of an active person by name. Raises NotFound."""
    found = User.objects.filter(username=name, is_active=True).values_list("pk", flat=True).first()
    if found is None:
        raise NotFound(f"There is no person named {name!r}.")
    return found


@transaction.atomic
def add_admin(name: str, password: str) -> User:
    """Create an administrator by a command on this machine. Raises ValidationError (name, password)."""
    return _admin(name, password)


def _admin(name: str, password: str) -> User:
    user = User(username=name.strip(), is_staff=True, is_superuser=True)
    validate_password(password, user)
    user.set_password(password)
    unique_names.check(user)
    user.save()
    user.groups.add(Group.objects.get_or_create(name="admin")[0])
    return user


def _token(seed: object) -> str:
    return salted_hmac(_TOKEN, str(seed), algorithm="sha256").hexdigest()
