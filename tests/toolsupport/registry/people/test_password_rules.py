"""Passwords that are guessed first or were stolen are refused, by every way in which one is set."""

from __future__ import annotations

import hashlib
import random
from io import StringIO
from pathlib import Path
from typing import BinaryIO

import pytest
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import CommonPasswordValidator, validate_password
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.test import Client

from tests.factories import PASSWORD
from tests.tables import every
from toolsupport.core.errors import ConfigError
from toolsupport.registry.people import accounts, breached_passwords, first_admin
from toolsupport.services import doctor

GOOD = "vivid-Otter-lamp-92"


def _why(password: str, user: User | None = None) -> str:
    try:
        validate_password(password, user)
    except ValidationError as error:
        return " ".join(error.messages)
    return ""


@every(
    "password, why",
    [
        (GOOD, ""),
        ("x7Kq9mW2", ""),  # eight characters of no pattern
        ("84719263", ""),  # no rule asks for letters, marks or capitals
        ("otters otters everywhere " * 20, ""),
        ("短い犬と長い猫の話です", ""),
        ("x7Kq9mW", "too short"),
        ("Password2024!", "too common"),
        ("toolsupport2024", "a word from this site"),
        ("Chat.Example.Org!1", "a word from this site"),
        ("al1cja-kowalska", "a name or a word"),
        ("alicjapassword", "a name or a word"),
        ("x7" * 501, "too long"),
    ],
)
def test_what_is_refused_and_why(settings, password: str, why: str):
    settings.ALLOWED_HOSTS = ["chat.example.org", "127.0.0.1", "[::1]"]
    found = _why(password, User(username="alicja.kowalska"))
    assert (why in found) if why else not found


def test_every_common_password_that_is_long_enough_is_refused():  # ASVS 6.2.4: at least 3,000
    common = [word for word in CommonPasswordValidator().passwords if len(word) >= 8]
    assert len(common) > 8000
    assert [word for word in random.Random(7).sample(sorted(common), 500) if not _why(word)] == []


@pytest.fixture
def stolen(tmp_path: Path, settings) -> Path:
    """A file like the public list: sorted, with counts."""
    words = [*(f"nobody has this {number}" for number in range(3000)), GOOD]
    lines = sorted(f"{hashlib.sha1(word.encode()).hexdigest().upper()}:{len(word)}" for word in words)
    file = tmp_path / "pwned.txt"
    file.write_text("\r\n".join(lines) + "\r\n", newline="")
    settings.ENV = settings.ENV | {breached_passwords.VARIABLE: str(file)}
    return file


def test_a_stolen_password_is_found_by_binary_search(stolen: Path, monkeypatch: pytest.MonkeyPatch):
    assert all(breached_passwords.contains(str(stolen), f"nobody has this {number}") for number in range(3000))
    assert not any(breached_passwords.contains(str(stolen), f"nor this {number}") for number in range(1000))
    assert "list of stolen passwords" in _why(GOOD)
    read: list[int] = []
    line = breached_passwords._line_from

    def counted(file: BinaryIO, place: int) -> tuple[bytes, int]:
        read.append(place)
        return line(file, place)

    monkeypatch.setattr(breached_passwords, "_line_from", counted)
    breached_passwords.contains(str(stolen), "nor this")
    assert len(read) < 30
    assert doctor.stolen_passwords().ok is True


def test_digests_may_be_cut_and_small(stolen: Path):
    stolen.write_text("".join(f"{line[:16].lower()}\n" for line in stolen.read_text().split()))
    assert _why(GOOD) and not _why("vivid-Otter-lamp-93")


@every(
    "content", [None, b"", b"not a digest\n" * 50, b"F" * 40 + b"\n" + b"0" * 40 + b"\n", b"\0" * 9000, b"AB\n" * 99]
)
def test_an_unusable_list_is_said_and_refuses(settings, tmp_path: Path, content: bytes | None):
    file = tmp_path / "list"
    file.unlink(missing_ok=True)
    if content is not None:
        file.write_bytes(content)
    settings.ENV = settings.ENV | {breached_passwords.VARIABLE: str(file)}
    assert doctor.stolen_passwords().ok is False
    unsorted_or_empty = content is not None and content[:1] in (b"", b"F")
    assert unsorted_or_empty or "cannot be read" in _why(GOOD)


@pytest.mark.django_db
def test_every_way_applies_the_rules(client: Client, stolen: Path, monkeypatch: pytest.MonkeyPatch, alice: User):
    token = first_admin.new_setup_token()
    sent = {"token": token, "username": "ana", "password": GOOD, "again": GOOD}
    assert "stolen" in client.post("/setup/", sent).content.decode()
    with pytest.raises(ConfigError, match="stolen"):
        first_admin.admin_from_environment(f"ana:{GOOD}")
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", GOOD)
    with pytest.raises(CommandError, match="stolen"):
        call_command("createsuperuser", "--noinput", "--username", "ana")
    link = accounts.invite("bert", "user").token
    sent = {"token": link, "password": GOOD, "again": GOOD}
    assert "stolen" in client.post("/join/", sent).content.decode()
    client.force_login(alice)
    sent = {"old_password": PASSWORD, "new_password1": GOOD, "new_password2": GOOD}
    assert "stolen" in client.post("/account/password/", sent).content.decode()
    assert not User.objects.filter(username="ana").exists()
    assert not User.objects.get(username="bert").has_usable_password()


@pytest.mark.django_db
def test_an_administrator_by_command(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", GOOD)
    call_command("createsuperuser", "--noinput", "--username", "ana", stdout=StringIO())
    assert User.objects.get(username="ana").is_superuser and not first_admin.needs_setup()
    with pytest.raises(CommandError, match="already exists"):
        call_command("createsuperuser", "--noinput", "--username", "ana")
    monkeypatch.delenv("DJANGO_SUPERUSER_PASSWORD")
    with pytest.raises(CommandError, match="are needed"):
        call_command("createsuperuser", "--noinput", "--username", "bea")
