"""Continues a turn with a fallback model when its own fails before anything of a reply was shown."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace

from chat.sentences import sentence
from chat.transcript.announcements import Announcement, Thing
from chat.transcript.turns import fallback
from chat.transcript.turns.begin import ClaimedTurn
from chat.turns.lasting_writes import in_database
from toolsupport.core import model_fallbacks
from toolsupport.core.errors import ConfigError, NotFound
from toolsupport.core.events import Event, Failed
from toolsupport.core.types import ChatMessage
from toolsupport.registry.metrics.call_tally import CallTally
from toolsupport.services.fallback_search import FallbackSearch, NextModel

AskModel = Callable[[Sequence[ChatMessage]], AsyncGenerator[list[Event], None]]
UseTurn = Callable[[ClaimedTurn], None]
Announce = Callable[[Announcement[Thing]], None]
NOT_SEEN = "\n\n[{} attached: you cannot see images.]"


class ModelTakeover:
    """The fallbacks of one turn.

    `use` receives the turn with its next model, `announce` the announcements. The model may fail at each request of a
    turn: results of tools are in the history by then, and no tool runs again.
    """

    def __init__(self, claimed: ClaimedTurn, tally: CallTally, use: UseTurn, announce: Announce) -> None:
        self._claimed, self._tally = claimed, tally
        self._use, self._announce = use, announce
        self._search: FallbackSearch | None = None
        self._blind = False

    @property
    def able(self) -> bool:
        """Whether the model that the turn began with has fallback models."""
        return self._search is not None or self._claimed.prepared.has_fallbacks

    async def answered(self, ask: AskModel, history: Sequence[ChatMessage]) -> AsyncGenerator[list[Event], None]:
        """Yield the batches of `ask`, of the first model that answers."""
        search, again = self._begun(), True
        while again:
            silent, again = True, False
            async with aclosing(ask(without_images(history) if self._blind else history)) as batches:
                async for batch in batches:
                    last = batch[-1]
                    silent = silent and not model_fallbacks.shown(batch)
                    if silent and isinstance(last, Failed):
                        again, last = await self._after(last, search)
                        if again:
                            break
                    yield [*batch[:-1], last]

    def _begun(self) -> FallbackSearch:
        """Begin a request of the turn; models that failed in an earlier one are not asked again."""
        if self._search is None:
            watch = self._claimed.prepared.watch
            self._search = FallbackSearch(self._claimed.profile, watch.server if watch else None)
        self._search.begin()
        return self._search

    async def _after(self, failed: Failed, search: FallbackSearch) -> tuple[bool, Failed]:
        """Return whether to ask again, and the failure in words for people."""
        found = await search.after(failed)
        while found.profile is not None and not found.repeat:
            if await self._taken_over(found, failed, search):
                return True, failed
            found = await search.instead()
        if found.profile is None and found.skipped:
            return False, replace(failed, message=f"{failed.message} No fallback model can answer: {found.skipped}.")
        return found.repeat, failed

    async def _taken_over(self, found: NextModel, failed: Failed, search: FallbackSearch) -> bool:
        """Continue the turn with a model; False if it cannot be prepared."""
        assert found.profile is not None
        why = {"why": failed.message} | ({"skipped": found.skipped} if found.skipped else {})
        words = sentence("model_failed_others_skipped" if found.skipped else "model_failed", **why)
        facts = {"model": self._claimed.model, "fallback": found.name, "failed": words}
        try:
            taken = await in_database(fallback.take_over)(self._claimed.store, found.profile, self._tally.taken, facts)
        except (ConfigError, NotFound):
            return False
        prepared = replace(taken.prepared, endpoint=search.limited(taken.prepared.endpoint))
        self._blind = prepared.request_spec.capabilities["vision"].value is not True
        self._claimed = replace(
            self._claimed, profile=found.profile, model=prepared.request_spec.model, prepared=prepared
        )
        self._use(self._claimed)
        for each in taken.announced:
            self._announce(each)
        return True


def without_images(history: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Return the history for a model that sees no images; a note replaces them."""
    return [
        replace(message, content=message.content + NOT_SEEN.format(_number(len(message.images))), images=())
        if message.images
        else message
        for message in history
    ]


def _number(images: int) -> str:
    return "1 image" if images == 1 else f"{images} images"
