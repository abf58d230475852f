"""Adds, checks and removes the passkeys of a person; a counter that goes back is refused."""

from __future__ import annotations

import json
import re
import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from toolsupport.core import passkey_origins, strict_json
from toolsupport.core.errors import NotAllowed, NotFound
from toolsupport.models import Passkey
from toolsupport.registry.factors import recovery_codes
from toolsupport.registry.people import audit_log, security_events

SITE = "toolsupport"
MOST = 20
NAME_LENGTH = 60
WRONG = "This passkey was not accepted."
LONGEST = 16 * 1024  # characters of a browser's answer
CREDENTIAL = re.compile(r"[\w-]{1,1400}", re.ASCII)  # a database may refuse to compare other texts
SECONDS = 5 * 60


@dataclass(frozen=True, slots=True)
class Ceremony:
    """One question to a browser: the challenge, and the address of the page."""

    challenge: bytes
    origin: str
    address: str = ""  # of the browser, for security events

    @property
    def site(self) -> str:
        return passkey_origins.site_of(self.origin)


@dataclass(frozen=True, slots=True)
class ShownPasskey:
    """A passkey as its owner sees it."""

    id: int
    name: str
    site: str
    created_at: datetime
    used_at: datetime | None


def listed(person_id: int) -> tuple[ShownPasskey, ...]:
    """Return the passkeys of a person, the oldest first."""
    columns = ("id", "name", "site", "created_at", "used_at")
    return tuple(ShownPasskey(*row) for row in Passkey.objects.filter(person_id=person_id).values_list(*columns))


def named(person_id: int, passkey_id: int) -> ShownPasskey:
    """Return one passkey of a person. Raises NotFound."""
    found = next((one for one in listed(person_id) if one.id == passkey_id), None)
    if found is None:
        raise NotFound("This passkey does not exist.")
    return found


def has_some(person_id: int, site: str = "") -> bool:
    """Return whether the person has a passkey, of this host if one is given."""
    rows = Passkey.objects.filter(person_id=person_id)
    return (rows.filter(site=site) if site else rows).exists()


def offer(person: User, ceremony: Ceremony) -> str:
    """Return the options for making a passkey, as JSON. The handle of the person stays the same."""
    library, structs = _library()
    rows = list(Passkey.objects.filter(person=person))
    if len(rows) >= MOST:
        raise NotAllowed(f"An account can have {MOST} passkeys. Remove one first.")
    handle = library.base64url_to_bytes(rows[0].handle) if rows else secrets.token_bytes(32)
    options = library.generate_registration_options(
        rp_id=ceremony.site,
        rp_name=SITE,
        user_id=handle,
        user_name=person.get_username(),
        user_display_name=person.get_username(),
        challenge=ceremony.challenge,
        timeout=SECONDS * 1000,
        authenticator_selection=structs.AuthenticatorSelectionCriteria(
            resident_key=structs.ResidentKeyRequirement.REQUIRED,
            user_verification=structs.UserVerificationRequirement.REQUIRED,
        ),
        exclude_credentials=[_described(row) for row in rows if row.site == ceremony.site],
    )
    return str(library.options_to_json(options))


def question(ceremony: Ceremony, person_id: int | None = None) -> str:
    """Return the options for proving a passkey, as JSON: any of this site, or one of this person."""
    library, structs = _library()
    rows = Passkey.objects.filter(person_id=person_id, site=ceremony.site) if person_id else ()
    options = library.generate_authentication_options(
        rp_id=ceremony.site,
        challenge=ceremony.challenge,
        timeout=SECONDS * 1000,
        allow_credentials=[_described(row) for row in rows],
        user_verification=structs.UserVerificationRequirement.REQUIRED,
    )
    return str(library.options_to_json(options))


@dataclass(frozen=True, slots=True)
class NewPasskey:
    """The browser's answer for a new passkey, its name, and the person's handle on the device."""

    answer: str
    name: str
    handle: str


def add(person: User, new: NewPasskey, ceremony: Ceremony) -> tuple[str, ...]:
    """Store a passkey; return the recovery codes if it is the first factor. Raises NotAllowed."""
    library, _ = _library()
    try:
        made = library.verify_registration_response(
            credential=_parsed(new.answer),
            expected_challenge=ceremony.challenge,
            expected_rp_id=ceremony.site,
            expected_origin=ceremony.origin,
            require_user_verification=True,
        )
    except Exception as error:  # the library passes on errors of its parsers at hostile bytes
        raise NotAllowed(WRONG) from error
    row = Passkey(person=person, name=new.name, site=ceremony.site, handle=new.handle, sign_count=made.sign_count)
    row.credential = library.helpers.bytes_to_base64url(made.credential_id)
    row.public_key = made.credential_public_key
    try:
        with transaction.atomic():
            row.save(force_insert=True)
            audit_log.write(person.pk, "add_second_factor", recovery_codes.subject(person.pk), "A passkey.")
            return recovery_codes.first(person)
    except IntegrityError as error:
        raise NotAllowed("This passkey is stored already.") from error


def person_of(answer: str, ceremony: Ceremony, person_id: int | None = None) -> User:
    """Return the person who proved a passkey; after a password it must be one of `person_id`. Raises NotAllowed."""
    given = _parsed(answer)
    credential = str(given.get("id"))
    if not CREDENTIAL.fullmatch(credential):
        raise NotAllowed(WRONG)
    rows = Passkey.objects.select_related("person").filter(credential=credential, site=ceremony.site)
    row = (rows.filter(person_id=person_id) if person_id else rows).first()
    if row is None or not _lets_in(row, given, needs_handle=person_id is None):
        raise NotAllowed(WRONG)
    library, _ = _library()
    try:
        # The counter is compared below, so that two processes cannot accept the same one.
        proof = library.verify_authentication_response(
            credential=given,
            expected_challenge=ceremony.challenge,
            expected_rp_id=ceremony.site,
            expected_origin=ceremony.origin,
            credential_public_key=bytes(row.public_key),
            credential_current_sign_count=0,
            require_user_verification=True,
        )
    except Exception as error:  # the library passes on errors of its parsers at hostile bytes
        raise NotAllowed(WRONG) from error
    if not _counted(row, proof.new_sign_count):
        security_events.record("passkey_copied", ceremony.address, row.person.get_username())
        raise NotAllowed(WRONG)
    return row.person


def forget(person_id: int, passkey_id: int) -> bool:
    """Delete one passkey of a person; return whether there was one."""
    removed, _ = Passkey.objects.filter(person_id=person_id, pk=passkey_id).delete()
    return bool(removed)


def handle_in(options: str) -> str:
    """Return the handle of the person in the options of `offer`."""
    return str(json.loads(options)["user"]["id"])


def _counted(row: Passkey, count: int) -> bool:
    """Store the counter of the device and the time; False if it did not go up. Devices without one send 0 for ever."""
    same = Passkey.objects.filter(pk=row.pk)
    rising = same.filter(sign_count__lt=count) if count else same.filter(sign_count=0)
    return bool(rising.update(sign_count=count, used_at=timezone.now()))


def _lets_in(row: Passkey, given: dict[str, object], needs_handle: bool) -> bool:
    """Return whether the person may sign in, and the device names the same person. A new link removed the password."""
    response = given.get("response")
    handle = response.get("userHandle") if isinstance(response, dict) else None
    if (handle or needs_handle) and handle != row.handle:
        return False
    return row.person.is_active and row.person.has_usable_password()


def _described(row: Passkey) -> Any:
    library, structs = _library()
    return structs.PublicKeyCredentialDescriptor(id=library.base64url_to_bytes(row.credential))


def _library() -> tuple[Any, Any]:
    """Return the library and its structures: 3.5 MiB, loaded where the first passkey is used."""
    import webauthn
    from webauthn.helpers import structs

    return webauthn, structs


def _parsed(answer: str) -> dict[str, object]:
    try:
        found = strict_json.read(answer) if len(answer) <= LONGEST else None
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise NotAllowed(WRONG)
    return found
