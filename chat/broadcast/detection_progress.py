"""Sends the progress of tests to the open pages of this process, wherever the tests run."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from channels.db import database_sync_to_async as in_database

from chat.broadcast import frames
from chat.broadcast.page_sockets import SocketRegistry
from chat.transcript.announcements import Announcements
from chat.transcript.questions import model_notices
from toolsupport.registry.testing.detection_reports import ShownDetection

Announce = Callable[[str, Announcements], None]

# States that a step may still have after its test has ended.
UNFINISHED = ("waiting", "running")


class DetectionProgress:
    """The sender of one process: call `look` once a second. `announce` is for stored announcements."""

    def __init__(self, listeners: SocketRegistry, announce: Announce) -> None:
        self._listeners = listeners
        self._announce = announce
        self._steps: dict[tuple[str, int], dict[str, tuple[str, str]]] = {}
        self._decisions: Mapping[int, int] = {}
        self._watched: set[str] = set()

    async def look(self) -> None:
        """Read the rows once for all pages, and send changes."""
        here = set(self._listeners.conversations())
        if not here:
            self._decisions, self._steps, self._watched = {}, {}, set()
            return
        opened, self._watched = here - self._watched, here
        await self._send_missed(opened)
        seen = await in_database(model_notices.look)()
        before, self._decisions = self._decisions, seen.decisions
        decided = {model: number for model, number in seen.decisions.items() if number > before.get(model, 0)}
        if seen.quiet and not decided:
            return
        models, tests = await in_database(model_notices.concerned)(here)
        for conversation, profile in models.items():
            await self._send_tests(conversation, [test for test in tests if test.profile == profile])
            # The pages of a chat that was opened since the last look have just read the present state.
            if profile in decided and conversation not in opened:
                notice = in_database(model_notices.announce_decision)(conversation, profile, decided[profile])
                self._announce(conversation, await notice)

    async def _send_missed(self, opened: set[str]) -> None:
        """Add the notices about tests that ended before a page of the chat was opened."""
        for conversation, test in await in_database(model_notices.missed)(opened) if opened else ():
            self._announce(conversation, await in_database(model_notices.announce_end)(conversation, test))

    async def _send_tests(self, conversation: str, tests: list[ShownDetection]) -> None:
        for test in tests:
            known = self._steps.get((conversation, test.id))
            if known is None or "" not in known:
                self._send_steps(conversation, test)
                if not test.open:
                    self._announce(conversation, await in_database(model_notices.announce_end)(conversation, test))

    def _send_steps(self, conversation: str, test: ShownDetection) -> None:
        """Send the steps that changed since the last look; the end is a step without a name."""
        known = self._steps.setdefault((conversation, test.id), {})
        steps = {step["step"]: (step["state"], step["detail"]) for step in test.steps}
        if not test.open:
            steps = {name: outcome for name, outcome in steps.items() if outcome[0] not in UNFINISHED}
            steps[""] = (test.status, test.reason)
        for name, (state, detail) in steps.items():
            if known.get(name) != (state, detail):
                self._listeners.tell(conversation, frames.DetectionProgressFrame(test.id, name, state, detail))
        known.update(steps)
