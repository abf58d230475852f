"""A test without a waiting person starts when its server has been idle for some time, by a test clock."""

from __future__ import annotations

import pytest

from chat.transcript.turns import busy_servers
from tests.factories import ConversationFactory, ModelProfileFactory
from toolsupport.models import Detection, ModelProfile
from toolsupport.registry.testing import detections
from toolsupport.registry.testing import idle as testing_idle
from toolsupport.registry.testing.detections import DetectionRequest
from toolsupport.registry.testing.idle import IdleCheck


class Clock:
    """Goes on only when it is told to."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def looks(idle: IdleCheck, clock: Clock, seconds: float, server: int = 1) -> list[bool]:
    """What it says in so many seconds, a look a second."""
    said = []
    for _ in range(round(seconds)):
        clock.now += 1
        said.append(idle(server))
    return said


def test_a_server_is_idle_after_a_while_without_anybody() -> None:
    clock, used = Clock(), set[int]()
    idle = IdleCheck(lambda: used, clock)
    assert looks(idle, clock, testing_idle.SECONDS) == [False] * round(testing_idle.SECONDS) and looks(
        idle, clock, 1
    ) == [True]
    used.add(1)
    assert looks(idle, clock, 1) == [False]
    used.clear()
    assert not any(looks(idle, clock, testing_idle.SECONDS)) and looks(idle, clock, 1) == [True]


def test_what_nobody_looked_at_is_not_known_to_be_idle() -> None:
    clock = Clock()
    idle = IdleCheck(clock=clock)
    assert looks(idle, clock, testing_idle.SECONDS + 1)[-1]
    clock.now += 3600
    assert not idle(1)


# D14
@pytest.mark.django_db
def test_a_test_after_a_change_waits_until_nobody_uses_the_server() -> None:
    profile: ModelProfile = ModelProfileFactory()
    clock = Clock()
    idle = IdleCheck(busy_servers.servers, clock)
    conversation = ConversationFactory(profile=profile)
    turn = conversation.turns.create(client_id="1", profile=profile, status="running")
    waits = detections.open_test(DetectionRequest(profile.pk, "drift")).id
    for _ in range(200):
        clock.now += 1
        assert detections.claim("worker", idle) is None
    turn.status = "done"
    turn.save()
    claimed = None
    for _ in range(round(testing_idle.SECONDS) + 2):
        clock.now += 1
        claimed = claimed or detections.claim("worker", idle)
    assert claimed == waits


@pytest.mark.django_db
def test_what_a_person_asked_for_does_not_wait_behind_it() -> None:
    for _ in range(9):
        detections.open_test(DetectionRequest(ModelProfileFactory().pk, "drift"))
    asked = detections.open_test(DetectionRequest(ModelProfileFactory().pk, "page")).id
    assert detections.claim("worker", lambda server: False) == asked
    assert detections.claim("worker", lambda server: False) is None
    profile = Detection.objects.filter(trigger="drift").values_list("profile", flat=True)[0]
    joined = detections.open_test(DetectionRequest(profile, "page"))
    assert not joined.fresh and detections.claim("worker", lambda server: False) == joined.id
    assert detections.claim("worker", lambda server: False) is None
