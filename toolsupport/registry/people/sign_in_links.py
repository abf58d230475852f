"""One-time links that sign a person in, made by an operator on the machine of the site."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.core.signing import BadSignature, TimestampSigner
from django.db import transaction
from django.utils import timezone

from toolsupport.core.errors import NotFound
from toolsupport.core.row_ids import row_number

LASTS = 15 * 60  # seconds
SALT = "toolsupport sign-in link"


class SignInLinkGenerator(PasswordResetTokenGenerator):
    """Tokens that a sign-in, or a new password, uses up; those of invitations are of another kind."""

    key_salt = SALT

    def _make_hash_value(self, user: User, timestamp: int) -> str:
        """Add the whole time of the last sign-in: Django drops its microseconds, which would hide a use."""
        return f"{super()._make_hash_value(user, timestamp)}{user.last_login}"


_generator = SignInLinkGenerator()


def make(name: str) -> str:
    """Return a token for this person. Raises NotFound."""
    person = User.objects.filter(username=name, is_active=True).first()
    if person is None:
        raise NotFound(f"There is no person named {name!r} who may sign in.")
    return TimestampSigner(salt=SALT).sign(f"{person.pk}-{_generator.make_token(person)}")


@transaction.atomic
def use(token: str) -> User:
    """Return the person of a token and use it up: of two uses at once, the second waits and is refused.

    Raises NotFound.
    """
    list(User.objects.select_for_update().filter(pk=person_of(token).pk).values_list("pk"))
    person = person_of(token)
    person.last_login = timezone.now()
    person.save(update_fields=["last_login"])
    return person


def person_of(token: str) -> User:
    """Return the person of a token. Raises NotFound for a used, expired or invalid one."""
    try:
        person_id, _, rest = TimestampSigner(salt=SALT).unsign(token, max_age=LASTS).partition("-")
    except BadSignature:
        person_id, rest = "", ""
    person = User.objects.filter(pk=row_number(person_id), is_active=True).first()
    if person is None or not _generator.check_token(person, rest):
        raise NotFound("This link was already used, or it is too old.")
    return person
