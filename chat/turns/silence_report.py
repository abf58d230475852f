"""Reports the state of a silent model server to pages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from chat.broadcast import frames
from chat.turns.tool_executor import Spawn
from toolsupport import providers
from toolsupport.core.errors import ProviderError
from toolsupport.core.events import Event
from toolsupport.registry.models.request_context import RequestContext

QUIET = 0.9  # seconds of silence before a page shows a reason for it
EVERY = 1.0  # seconds between two reports
LOADED = 5.0  # seconds after which a model that answered here may have been unloaded

Batches = AsyncGenerator[list[Event], None]
# (address, model) → when it last sent a part of an answer to this process, on the clock of the event loop.
_last_parts: dict[tuple[str, str], float] = {}
# (address, model) → when its server was last asked about it before an answer, and the task that asks.
_looks: dict[tuple[str, str], tuple[float, asyncio.Task[bool | None]]] = {}


class SilenceReport:
    """The reports of one request: a frame per second while the server is silent, and one when it continues.

    The phase is `loading` (the server loads the model from disk), `waiting` (the model is loaded and no token came yet)
    or `writing_call` (Ollama holds a call back until its last line), then `answering`.
    """

    def __init__(self, turn: int, context: RequestContext, tell: Callable[[frames.ServerFrame], None]) -> None:
        self._turn, self._endpoint, self._request_spec = turn, context.endpoint, context.request_spec
        self._provider = providers.provider(context.endpoint.kind)
        self._tell, self._loop = tell, asyncio.get_running_loop()
        self._last_event_at = self._loop.time()
        self._model = (context.endpoint.base_url, context.request_spec.model)
        self._begun = self._reported = False
        self._loaded: bool | None = None
        self._asks = self._provider.wire != "ollama" and self._provider.loads_on_demand
        self._look: asyncio.Task[None] | None = None

    async def passed_on(self, batches: Batches, spawn: Spawn) -> Batches:
        """Yield the same batches; the reports end with them."""
        if self._provider.wire == "ollama" and not self._answered_just_now():
            self._look = spawn(self._look_first(spawn))
            await asyncio.sleep(0)  # ask about the model first: the request itself makes the server load it
        elif self._provider.wire == "ollama":
            self._loaded = True
        self._timer = self._loop.call_later(EVERY, self._tick, spawn)
        try:
            async with aclosing(batches):
                async for batch in batches:
                    self._note_event()
                    yield batch
        finally:
            self._timer.cancel()
            if self._look is not None:
                self._look.cancel()
                # Its result is not read: the supervisor logs a failure, which ends no answer.
                await asyncio.wait([self._look])

    def _note_event(self) -> None:
        self._begun, self._last_event_at = True, self._loop.time()
        _last_parts[self._model] = self._last_event_at
        if self._reported:
            self._reported = False
            self._tell(frames.TurnPhaseFrame(self._turn, "answering", 0))

    def _tick(self, spawn: Spawn) -> None:
        """Report each second, before the first part once it is known whether the model is loaded."""
        self._timer = self._loop.call_later(EVERY, self._tick, spawn)
        if self._begun or not (self._asks or self._is_looking()):
            self._report()
        elif not self._is_looking():
            self._look = spawn(self._look_again())

    def _is_looking(self) -> bool:
        return self._look is not None and not self._look.done()

    def _report(self) -> None:
        silent, phase = self._loop.time() - self._last_event_at, self._phase()
        if phase and silent >= QUIET:
            self._reported = True
            self._tell(frames.TurnPhaseFrame(self._turn, phase, round(silent)))

    async def _look_first(self, spawn: Spawn) -> None:
        self._loaded = await self._looked_up(spawn)
        self._asks = self._loaded is False

    async def _look_again(self) -> None:
        self._loaded = await self._is_loaded()
        self._asks = self._loaded is False
        self._report()

    def _phase(self) -> str:
        if not self._begun:
            return "loading" if self._loaded is False else "waiting"
        held_back = (
            self._provider.holds_calls_back
            and self._request_spec.offers_tools
            and self._request_spec.format == "native"
        )
        return "writing_call" if held_back else ""

    def _answered_just_now(self) -> bool:
        """Return whether the model is certainly in memory; one with its own `keep_alive` may be unloaded at once."""
        known = _last_parts.get(self._model, 0.0)
        return not self._request_spec.keep_alive and 0 <= self._loop.time() - known < LOADED

    async def _looked_up(self, spawn: Spawn) -> bool | None:
        """Return whether the model is loaded; answers that begin within a second share one request."""
        now = self._loop.time()
        asked, look = _looks.get(self._model, (0.0, None))
        if look is None or now - asked >= EVERY or look.get_loop() is not self._loop:
            look = spawn(self._is_loaded())
            _looks[self._model] = now, look
        return await asyncio.shield(look)

    async def _is_loaded(self) -> bool | None:
        """Return whether the server has the model in memory; None if it does not show that."""
        try:
            return await providers.is_loaded(self._endpoint, self._request_spec.model)
        except ProviderError:
            return None
