"""Of two administrators who take each other away at the same moment, one stays."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress

import pytest
from django.contrib.auth.models import User
from django.db import connection

from tests.factories import UserFactory
from toolsupport.core.errors import NotAllowed
from toolsupport.registry.people import accounts, deletion, first_admin
from toolsupport.registry.people.deletion import DeletionOrder

WAYS: dict[str, Callable[[User, User], object]] = {
    "demote": lambda actor, other: accounts.set_role(actor.pk, other.pk, "viewer"),
    "deactivate": lambda actor, other: accounts.set_active(actor.pk, other.pk, False),
    "delete": lambda actor, other: deletion.close_account(DeletionOrder(other.pk, other.username, actor.pk)),
}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("other", WAYS)
@pytest.mark.parametrize("one", WAYS)
def test_two_who_take_each_other_away(monkeypatch: pytest.MonkeyPatch, one: str, other: str) -> None:  # P4
    ana, bea = (UserFactory(username=name, role="admin") for name in ("ana", "bea"))
    both, real, refused = threading.Barrier(2), first_admin.needs_setup, list[str]()

    def checked() -> bool:
        """Look only when both have changed their rows, if the second one can."""
        with suppress(threading.BrokenBarrierError):
            both.wait(0.3)
        return real()

    monkeypatch.setattr(first_admin, "needs_setup", checked)

    def take(way: str, actor: User, person: User) -> None:
        try:
            WAYS[way](actor, person)
        except NotAllowed as error:
            refused.append(str(error))
        finally:
            connection.close()

    threads = [threading.Thread(target=take, args=given) for given in ((one, ana, bea), (other, bea, ana))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not real() and refused == ["The site needs at least one active administrator."]
