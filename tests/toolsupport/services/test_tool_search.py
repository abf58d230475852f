"""Words decide alone where no vectors come; each text is asked for once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from tests.factories import ServerFactory
from toolsupport import providers
from toolsupport.core.errors import Unreachable
from toolsupport.core.tool_index import IndexEntry
from toolsupport.core.types import Endpoint
from toolsupport.services import embeddings
from toolsupport.services.tool_search import search

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.asyncio]

ENTRIES = [IndexEntry("cat", "purrs"), IndexEntry("dog", "barks")]
MEANINGS = {"cat: purrs": [1.0, 0.0], "dog: barks": [0.0, 1.0], "feline": [0.9, 0.1]}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The texts that a server was asked for; it does not know all."""
    texts: list[str] = []

    async def embed(endpoint: Endpoint, model: str, wanted: Sequence[str]) -> list[Any]:
        assert model == "family/small:1b"
        texts.extend(wanted)
        if not set(wanted) <= set(MEANINGS):
            raise Unreachable("it does not answer")
        return [MEANINGS[text] for text in wanted]

    monkeypatch.setattr(providers, "embed", embed)
    embeddings.forget()
    yield texts
    embeddings.forget()


@pytest.fixture(autouse=True)
def box(transactional_db: None) -> None:
    ServerFactory(name="box")


def name(settings: Any, model: str) -> None:
    settings.ENV = settings.ENV | {"TOOLSUPPORT_EMBED_MODEL": model}


async def test_meaning_helps_and_is_asked_for_once(settings: Any, asked: list[str]) -> None:  # T5
    name(settings, "box/family/small:1b")
    for _ in range(2):
        assert [found.name for found in await search(ENTRIES, "feline", 1)] == ["cat"]
    assert sorted(asked) == sorted(MEANINGS)


async def test_without_a_server_words_decide(settings: Any, asked: list[str]) -> None:
    name(settings, "nowhere/small")
    assert [found.name for found in await search(ENTRIES, "barking", 2)] == ["dog"]
    assert await search(ENTRIES, "feline", 1) == [] and asked == []


async def test_a_server_that_fails_is_done_without(settings: Any, asked: list[str]) -> None:
    name(settings, "box/family/small:1b")
    odd = [IndexEntry("bird", "sings"), *ENTRIES]
    assert [found.name for found in await search(odd, "barking", 2)] == ["dog"]
    given, asked[:] = list(asked), []
    assert [found.name for found in await search([IndexEntry("dog", "barks")], "barking", 2)] == ["dog"]
    assert given and asked == []  # it is left alone for a while


async def test_what_falls_out_while_others_are_asked_for_is_given_all_the_same(
    settings: Any, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name(settings, "box/family/small:1b")
    monkeypatch.setattr(embeddings, "KEPT", 1)
    assert await embeddings.vectors(["cat: purrs"]) == [[1.0, 0.0]]
    assert await embeddings.vectors(["cat: purrs", "dog: barks", "feline"]) == list(MEANINGS.values())


async def test_what_came_in_time_is_kept_where_not_all_did(
    settings: Any, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name(settings, "box/family/small:1b")
    quick = providers.embed

    async def slow(endpoint: Endpoint, model: str, wanted: Sequence[str]) -> list[Any]:
        if asked:
            raise TimeoutError  # as the clock does
        return await quick(endpoint, model, wanted)

    monkeypatch.setattr(providers, "embed", slow)
    monkeypatch.setattr(embeddings, "AT_ONCE", 1)
    assert await embeddings.vectors(["cat: purrs", "dog: barks"]) is None and asked == ["cat: purrs"]
    embeddings._failed.clear()
    monkeypatch.setattr(providers, "embed", quick)
    assert await embeddings.vectors(["cat: purrs", "dog: barks"]) is not None and asked == ["cat: purrs", "dog: barks"]


async def test_nobody_is_asked_unless_a_model_is_named(asked: list[str]) -> None:
    assert [found.name for found in await search(ENTRIES, "barking", 2)] == ["dog"]
    assert await embeddings.vectors([]) is None and asked == []
