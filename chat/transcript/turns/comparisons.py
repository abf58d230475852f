"""Stores comparisons: a turn replayed on up to six models, with its recorded results; nothing is executed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet

from chat.models import ComparedAnswer, Comparison, Conversation
from chat.transcript.conversations.conversations import Person
from chat.transcript.messages.view_models import ShownUsage
from chat.transcript.turns import turn_case
from toolsupport.core import left_out_settings
from toolsupport.core.errors import Busy, ConfigError, NotFound
from toolsupport.core.exams.argument_match import same
from toolsupport.core.exams.cases import MOST_CALLS, ExamCase, ExpectedCall, read_case
from toolsupport.core.prompt import token_counts
from toolsupport.core.types import JSON
from toolsupport.registry import leases
from toolsupport.registry.people import quota_use, quotas
from toolsupport.registry.servers import server_slots

LEASE = timedelta(seconds=15)
OPEN = ("queued", "running")
MOST_MODELS = 6
MOST_OPEN = 12  # answers that one person may wait for
AT_ONCE = 2  # requests of comparisons at the same time on one server
ENDED = "This replay does not exist."
FIELDS = ("format", "replies", "error", "duration_ms", "prompt_tokens", "output_tokens")


@dataclass(frozen=True, slots=True)
class ComparedCall:
    """A call of an answer. `alike`: the answer in the chat has a call of the same tool with the same arguments."""

    name: str
    arguments: JSON
    alike: bool


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """One side of a comparison. `id` 0 is the answer in the chat; `missing` are calls that only that one has.

    `html` is the formatted text, "" where it is not ready. `left_out` names settings that the server refused.
    """

    id: int
    profile: int
    model: str
    server: str
    status: str
    text: str
    calls: tuple[ComparedCall, ...]
    missing: tuple[ComparedCall, ...] = ()
    error: str = ""
    unusable: str = ""
    format: str = ""
    duration_ms: int = 0
    tokens: int = 0
    html: str = ""
    left_out: str = ""

    @property
    def open(self) -> bool:
        return self.status in OPEN

    @property
    def alike(self) -> bool:
        """Whether it has the calls of the answer in the chat and no others."""
        return not self.missing and all(call.alike for call in self.calls)


@dataclass(frozen=True, slots=True)
class ShownComparison:
    """A comparison: the answer in the chat, and those of other models."""

    turn: int
    conversation: str
    model: int
    question: str
    original: ShownAnswer
    answers: tuple[ShownAnswer, ...]

    @property
    def open(self) -> bool:
        return any(answer.open for answer in self.answers)


@dataclass(frozen=True, slots=True)
class ClaimedAnswer:
    """An answer that this process requests now. `temperature` is that of the chat."""

    id: int
    profile: int
    case: ExamCase
    temperature: float | None


@transaction.atomic
def begin(person: Person, turn_id: int, profiles: Sequence[int]) -> None:
    """Replay on these models, instead of the earlier ones. Raises NotFound, ConfigError, Busy, QuotaSpent."""
    made, chosen = turn_case.of_turn(person, turn_id), list(dict.fromkeys(profiles))
    if not 1 <= len(chosen) <= MOST_MODELS:
        raise ConfigError(f"Choose 1 to {MOST_MODELS} models.")
    mine = ComparedAnswer.objects.filter(comparison__turn__conversation__owner_id=person.pk, status__in=OPEN)
    if mine.exclude(comparison_id=turn_id).count() + len(chosen) > MOST_OPEN:
        raise Busy(
            f"{MOST_OPEN} of your replays are waiting, the maximum. Wait for one, or cancel a replay.", "comparisons"
        )
    row, _ = Comparison.objects.update_or_create(turn_id=turn_id, defaults={"case": made.case.to_json()})
    row.answers.all().delete()
    asked = [ComparedAnswer(comparison=row, profile_id=profile) for profile in chosen]
    ComparedAnswer.objects.bulk_create(asked)
    if limited := quotas.limited(person.pk or 0):
        quota_use.spend(limited, asked[0].created_at, len(asked))


def cancel(person: Person, turn_id: int) -> None:
    """Cancel the answers that are not complete. Raises NotFound."""
    turn_case.own_turn(person, turn_id)
    rows = ComparedAnswer.objects.filter(comparison_id=turn_id, status__in=OPEN)
    rows.update(status="cancelled", lease_until=None)


def shown(person: Person, turn_id: int) -> ShownComparison:
    """Return the comparison of a turn, without other answers before the first one. Raises NotFound, ConfigError."""
    own = turn_case.own_turn(person, turn_id)
    turn = own.row
    row: Comparison | None = getattr(turn, "comparison", None)
    case = read_case(row.case) if row else turn_case.of_own(own).case
    rows = list(row.answers.select_related("profile__server")) if row else []
    answers = tuple(_shown(one, case) for one in rows)
    usage = ShownUsage.of(turn.usage)
    original = ShownAnswer(
        *(0, turn.profile_id, turn.profile.name, turn.profile.server.name, "done", own.last_text),
        calls=_original(case),
        format=turn.format,
        duration_ms=usage.took_ms,
        tokens=usage.tokens,
    )
    question = next((one.content for one in reversed(case.messages) if one.role == "user"), "")
    chosen = turn.conversation.profile_id or 0
    return ShownComparison(turn.pk, str(turn.conversation_id), chosen, question, original, answers)


def _original(case: ExamCase) -> tuple[ComparedCall, ...]:
    return tuple(ComparedCall(call.name, call.arguments, True) for call in case.expected)


def _among(name: str, arguments: JSON, calls: Sequence[Any]) -> bool:
    return any(call.name == name and same(call.arguments, arguments) for call in calls)


def _shown(row: ComparedAnswer, case: ExamCase) -> ShownAnswer:
    made = [call for reply in row.replies for call in reply.get("calls", ())]
    calls = tuple(
        ComparedCall(call["name"], call["arguments"], _among(call["name"], call["arguments"], case.expected))
        for call in made
    )
    missing = [one for one in case.expected if not _among(one.name, one.arguments, calls)]
    return ShownAnswer(
        *(row.pk, row.profile_id, row.profile.name, row.profile.server.name, row.status),
        text=next((reply["text"] for reply in reversed(row.replies) if reply.get("text")), ""),
        calls=calls,
        missing=tuple(ComparedCall(one.name, one.arguments, False) for one in missing) if row.status == "done" else (),
        unusable=next((one["reason"] for reply in row.replies for one in reply.get("rejected", ())), ""),
        **{name: getattr(row, name) for name in ("error", "format", "duration_ms")},
        tokens=row.output_tokens,
        left_out=next(
            (
                left_out_settings.worded(row.profile.name, **reply["left_out"])
                for reply in row.replies
                if "left_out" in reply
            ),
            "",
        ),
    )


def case_of(person: Person, turn_id: int, answer: int) -> ExamCase:
    """Return the case of a turn that expects the calls of this compared answer. Raises NotFound."""
    turn_case.own_turn(person, turn_id)
    row = ComparedAnswer.objects.select_related("comparison").filter(pk=answer, comparison_id=turn_id).first()
    if row is None:
        raise NotFound(ENDED)
    made = [call for reply in row.replies for call in reply.get("calls", ())]
    expected = [ExpectedCall(call["name"], call["arguments"]) for call in made]
    once = [call for place, call in enumerate(expected) if call not in expected[:place]]
    return read_case(row.comparison.case | {"expected": [call.to_json() for call in once[:MOST_CALLS]]})


def profile_of(person: Person, turn_id: int, answer: int) -> int | None:
    """Return the model of a compared answer, None if there is no such answer any more. Raises NotFound."""
    turn_case.own_turn(person, turn_id)
    return ComparedAnswer.objects.filter(pk=answer, comparison_id=turn_id).values_list("profile_id", flat=True).first()


def claim(owner: str) -> ClaimedAnswer | None:
    """Claim the oldest answer that waits, or whose process is gone; a few at once on a server."""
    return _oldest(owner) if leases.has_work(ComparedAnswer) else None


@transaction.atomic
def _oldest(owner: str) -> ClaimedAnswer | None:
    """Claim the oldest answer whose server has room for it."""
    waits = Q(status="queued") | (Q(status="running") & leases.ran_out())
    running = ComparedAnswer.objects.filter(status="running").exclude(leases.ran_out())
    busy = Counter(running.values_list("profile__server_id", flat=True))
    rows = ComparedAnswer.objects.filter(waits).select_related("profile", "comparison__turn__conversation")
    for row in rows.order_by("id")[:50]:
        if busy[row.profile.server_id] >= AT_ONCE:
            continue
        if not server_slots.take(row.profile.server_id, _holder(owner, row.pk), first=True):
            busy[row.profile.server_id] = AT_ONCE
            continue
        free = ComparedAnswer.objects.filter(waits, pk=row.pk)
        if free.update(status="running", owner=owner, lease_until=leases.in_future(LEASE), replies=[]):
            return _claimed(row)
        server_slots.leave(_holder(owner, row.pk))
    return None


def _claimed(row: ComparedAnswer) -> ClaimedAnswer:
    conversation: Conversation = row.comparison.turn.conversation
    return ClaimedAnswer(
        row.pk, row.profile_id, read_case(row.comparison.case), conversation.settings.get("temperature")
    )


def _mine(answer: int, owner: str) -> QuerySet[ComparedAnswer]:
    return ComparedAnswer.objects.filter(pk=answer, owner=owner, status="running")


def progress(answer: int, owner: str, replies: list[JSON]) -> bool:
    """Store the text so far and renew the leases; False if it was cancelled or another process has it."""
    server_slots.renew(_holder(owner, answer))
    return bool(_mine(answer, owner).update(replies=replies, lease_until=leases.in_future(LEASE)))


@transaction.atomic
def conclude(answer: int, owner: str, ended: JSON) -> bool:
    """Store a complete answer: its FIELDS; False if this process no longer has it."""
    fields = {name: value for name, value in ended.items() if name in FIELDS}
    status = "failed" if ended.get("error") else "done"
    stored = bool(_mine(answer, owner).update(status=status, lease_until=None, **fields))
    if stored:
        _count_for_quota(answer)
    return stored


def _count_for_quota(answer: int) -> None:
    """Count the tokens of an answer; one that failed before its model wrote anything is not counted."""
    row = ComparedAnswer.objects.select_related("comparison__turn__conversation").get(pk=answer)
    limited = quotas.limited(row.comparison.turn.conversation.owner_id)
    if not limited:
        return
    used, written = row.prompt_tokens + row.output_tokens, len(str(row.replies)) if row.replies else 0
    if written and not used:
        used = token_counts.of_characters(len(str(row.comparison.case)) + written)
    counted = quota_use.CountedRequest(limited, row.created_at.astimezone(UTC).date())
    quota_use.settle(counted, used, given_back=row.status == "failed" and not used)


def release(answer: int, owner: str) -> None:
    """Free the place on the server that the request of an answer had."""
    server_slots.leave(_holder(owner, answer))


def _holder(owner: str, answer: int) -> str:
    return server_slots.holder(owner, "answer", answer)


def leave(owner: str) -> None:
    """Release the answers of this process, so that another one can request them at once."""
    ComparedAnswer.objects.filter(owner=owner, status="running").update(lease_until=None)
    server_slots.leave(f"{owner}/answer/")
