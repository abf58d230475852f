"""One-time links that sign a person in, made by an operator on the machine of the site."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.core.signing import BadSignature, TimestampSigner

from toolsupport.core.errors import NotFound
from toolsupport.core.row_ids import row_number

LASTS = 15 * 60  # seconds
SALT = "toolsupport sign-in link"


class SignInLinkGenerator(PasswordResetTokenGenerator):
    """Tokens that a sign-in, or a new password, uses up; those of invitations are of another kind."""

    key_salt = SALT


_generator = SignInLinkGenerator()


def make(name: str) -> str:
    """Return a token for this person. Raises NotFound."""
    person = User.objects.filter(username=name, is_active=True).first()
    if person is None:
        raise NotFound(f"There is no person named {name!r} who may sign in.")
    return TimestampSigner(salt=SALT).sign(f"{person.pk}-{_generator.make_token(person)}")


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
