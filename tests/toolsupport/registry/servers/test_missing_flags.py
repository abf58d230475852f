"""A server that lacks a setting for tools: noted once, dropped as soon as tools work."""

from __future__ import annotations

import pytest

from tests.factories import ModelProfileFactory, ServerFactory
from toolsupport.models import ModelProfile, Server
from toolsupport.registry.servers import missing_flags, servers
from toolsupport.registry.servers.servers import NewServer
from toolsupport.registry.testing import detections
from toolsupport.registry.testing.detections import DetectionRequest, DetectionResult

pytestmark = pytest.mark.django_db

LACKS = DetectionResult("misconfigured", {"flag": "--jinja"}, {}, "Started without --jinja.")


@pytest.fixture
def model() -> ModelProfile:
    made: ModelProfile = ModelProfileFactory(name="m", server=ServerFactory(name="box", kind="llamacpp"))
    return made


def conclude(model: ModelProfile, end: DetectionResult, kind: str = "tools") -> None:
    test = detections.open_test(DetectionRequest(model.pk, "page", kind))
    detections.claim("worker")
    assert detections.conclude(test.id, "worker", end)


def flags() -> list[str]:
    return [mark.flag for marks in missing_flags.by_server().values() for mark in marks]


# P9
def test_it_is_noted_once_until_it_is_solved(model: ModelProfile):
    assert missing_flags.missing(model.pk, "--jinja") and not missing_flags.missing(model.pk, "--jinja")
    since = missing_flags.by_server()[model.server_id][0].since
    assert missing_flags.servers() == 1 and since is not None
    missing_flags.solved(model.pk)
    assert flags() == [] and missing_flags.missing(model.pk, "--jinja")


@pytest.mark.parametrize(
    ("end", "kind", "left"),
    [
        (DetectionResult("native", {}, {"tools": True}, "3 of 3."), "tools", []),
        (DetectionResult("ignored", {}, {"tools": False}, "It called nothing."), "tools", []),
        (DetectionResult("inconclusive", {"why": "busy"}), "tools", ["--jinja"]),
        (DetectionResult("text", {"format": "hermes", "flag": "--jinja"}, {"format": "hermes"}), "tools", ["--jinja"]),
        # Text says nothing about the server's own interface.
        (DetectionResult("text", {"format": "hermes"}, {"format": "hermes"}), "formats", ["--jinja"]),
    ],
)
def test_a_test_notes_and_solves_it(model: ModelProfile, end: DetectionResult, kind: str, left: list[str]):
    conclude(model, LACKS)
    assert flags() == ["--jinja"]
    conclude(model, end, kind)
    assert flags() == left


def test_a_test_that_cannot_name_the_flag_notes_what_it_found(model: ModelProfile):
    conclude(model, DetectionResult("misconfigured", {"flag": ""}, {}, "Its calls stay in the text."))
    assert flags() == ["Its calls stay in the text."]


def test_another_address_of_the_server_solves_it(model: ModelProfile):
    missing_flags.missing(model.pk, "--jinja")
    servers.ensure(NewServer("box", "llamacpp", model.server.base_url, origin="page"))
    assert flags() == ["--jinja"]
    servers.ensure(NewServer("box", "llamacpp", "http://127.0.0.1:9999", origin="page"))
    assert flags() == []


def test_what_is_out_of_use_needs_nothing(model: ModelProfile):
    missing_flags.missing(model.pk, "--jinja")
    Server.objects.filter(pk=model.server_id).update(enabled=False)
    assert (flags(), missing_flags.servers()) == ([], 0)


def test_two_models_of_one_server_are_one_server(model: ModelProfile):
    for profile in (model, ModelProfileFactory(server=model.server)):
        missing_flags.missing(profile.pk, "--jinja")
    assert (flags(), missing_flags.servers()) == (["--jinja"] * 2, 1)
