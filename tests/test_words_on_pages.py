"""No page, error or frame shows a word of the code or one that is not used (tests/words_on_pages.py)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import BadRequest, DisallowedHost, PermissionDenied
from django.http import Http404
from django.test import RequestFactory
from django.urls import reverse

from chat.broadcast import error_codes
from chat.models import Conversation
from tests import worded_site
from tests.parameters import KINDS
from tests.test_permissions import ADDRESSES, QUERIES, WAITING, put_away, visitor
from tests.words_on_pages import faults, faults_of_text
from toolsupport.core import outcomes
from toolsupport.models import Detection, HistoryEntry, McpServer, ModelProfile, Server
from toolsupport.web import sentences
from toolsupport.web.pages import errors


def own_things(person: User, chat: Conversation) -> dict[str, Any]:
    """The parameters of addresses, by the rows that have the most to show."""
    message = chat.messages.filter(role="assistant").latest("pk")
    return {
        "conversation_id": chat.pk,
        "message_id": message.pk,
        "model_id": ModelProfile.objects.get(name="everything:latest").pk,
        "profile_id": ModelProfile.objects.get(name="everything:latest").pk,
        "detection_id": Detection.objects.filter(status="done").latest("pk").pk,
        "entry_id": HistoryEntry.objects.filter(detection__isnull=False).latest("pk").pk,
        "mcp_server_id": McpServer.objects.latest("pk").pk,
        "server_id": Server.objects.filter(reachable=False).latest("pk").pk,
    }


def texts_of(answer: Any) -> Iterator[str]:
    """The faults of an answer: of a page, or of the human text of an error in JSON."""
    kind = answer.headers.get("Content-Type", "")
    if answer.streaming or answer.status_code == 302:
        return
    if "html" in kind:
        yield from faults(answer.content.decode())
    elif "json" in kind and answer.status_code >= 400:
        yield from faults_of_text(json.loads(answer.content)["error"]["message"])


@pytest.mark.django_db
def test_no_page_shows_words_of_the_code() -> None:
    person, client = visitor("admin")
    chat = worded_site.a_chat_with_everything(person)
    worded_site.servers_with_each_fault()
    worded_site.the_rest(person)
    things = own_things(person, chat)
    found: list[str] = []
    for address in ADDRESSES:
        if address.name not in {*WAITING, "logout", "readyz"}:
            given = [things.get(name) or KINDS[name].own(person) for name in address.parameters]
            answer: Any = client.get(reverse(address.name, args=given), QUERIES.get(address.name, {}))
            put_away(answer)
            assert answer.status_code < 500, address.name
            found += [f"{address.name}: {fault}" for fault in texts_of(answer)]
    assert not found, "\n".join(dict.fromkeys(found))


# Every error page, each as a page and as the JSON of the API.
ERROR_PAGES = [
    (errors.bad_request, DisallowedHost("x")),
    (errors.bad_request, BadRequest()),
    (errors.forbidden, PermissionDenied("Your role does not allow this.")),
    (errors.forbidden, PermissionDenied()),
    (errors.missing, Http404()),
    (errors.failed, None),
    (errors.stale_form, None),
]


@pytest.mark.django_db
def test_no_error_shows_words_of_the_code() -> None:
    found: list[str] = []
    for place in ("/models/9/", "/v1/models/x", "/api/models/9"):
        for view, error in ERROR_PAGES:
            request: Any = RequestFactory().get(place)
            request.user = AnonymousUser()
            found += texts_of(view(request, error) if error else view(request))  # type: ignore[operator]
    assert not found, "\n".join(found)


@pytest.mark.django_db
def test_no_refusal_of_the_api_shows_words_of_the_code() -> None:
    person, client = visitor("admin")
    things = {"conversation_id": worded_site.a_chat_with_everything(person).pk}
    found: list[str] = []
    for address in ADDRESSES:
        if address.name.startswith(("api-", "v1-")) and address.name not in WAITING:
            given = [things.get(name) or KINDS[name].absent(person) for name in address.parameters]
            for body in ("{", "{}", '{"model": "none", "messages": [], "tools": 1, "tool_choice": {}, "stream": "x"}'):
                answer: Any = client.post(reverse(address.name, args=given), body, content_type="application/json")
                found += [f"{address.name}: {fault}" for fault in texts_of(answer)]
    assert not found, "\n".join(dict.fromkeys(found))


def test_every_error_of_a_frame_is_in_words() -> None:
    assert not [fault for words in error_codes.ERRORS.values() for fault in faults_of_text(words)]
    for code in error_codes.ERRORS:
        assert not list(faults_of_text(str(error_codes.FrameError(code, error_codes.ERRORS[code]))))


def test_every_outcome_has_words() -> None:
    assert sentences.OUTCOMES.keys() == outcomes.CODES.keys()
    assert sentences.outcome("gone_for_long") == "Gone for long"


@pytest.mark.parametrize(
    ("page", "found"),
    [
        ("<p>It called read_file.</p>", ["read_file: It called read_file."]),
        ("<p>It called <code>read_file</code>.</p><p dir=auto>a_b</p><bdi>a_b</bdi>", []),
        (
            "<p>Level A1: it only reads.</p>",
            ["A1: Level A1: it only reads.", "it only reads: Level A1: it only reads."],
        ),
        ('<button aria-label="Switch read_file off">Off</button>', []),
        ('<button aria-label="Source: declared">D</button>', ["declared: Source: declared"]),
        ("<p>The warehouse, untold <br>https://x/a_b</p><script>a_b</script>", ["a_b: https://x/a_b"]),
    ],
)
def test_a_word_of_the_code_would_be_found(page: str, found: list[str]) -> None:
    assert list(faults(page)) == found
