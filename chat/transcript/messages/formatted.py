"""Formats answers in the work pool, once, and stores their HTML with a seal.

The seal is a code of this site over the version of the formatter, the text and the HTML. HTML with another one is not
shown: it was made from another text or by another version, or it was not made here (a changed or foreign row).
A page and the database's thread never format: while there is no HTML, the plain form is shown.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Hashable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar

from django.db import Error
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.safestring import SafeString, mark_safe

from chat.models import FormattedMessage, Message
from chat.transcript import sql
from chat.transcript.messages.view_models import SharedConversation, ShownConversation, ShownMessage
from toolsupport.registry import row_objects
from toolsupport.rendering import format_tasks
from toolsupport.work_pool.pool import work_pool
from toolsupport.work_pool.types import OverBudget, WorkError, WorkRefused

log = logging.getLogger(__name__)

# Seconds that the end of an answer waits for its HTML, and a page for that of older answers.
PATIENCE = 2.0
Progress = dict[str, Any]
AnyTranscript = TypeVar("AnyTranscript", ShownConversation, SharedConversation)
SALT = "chat.transcript.messages.formatted"
MADE = "html_made_here"  # attribute of a row: a text and its HTML, shown without a seal since they were made here
MESSAGE = FormattedMessage._meta.get_field("message")


def plain_form(text: str, note: str = "") -> SafeString:
    return mark_safe(format_tasks.plain(text, note))


def get_ready() -> None:
    """Start a worker if none is there, so that the end of an answer does not wait for its start."""
    with suppress(WorkRefused):
        work_pool().wake(format_tasks.FORMAT, "")


async def formatted(person: Hashable, text: str) -> str | None:
    """Return the HTML of a text; None if that takes too long now. A cancellation ends the work."""
    if (plain := _without_work(text)) is not None:
        return plain
    try:
        async with asyncio.timeout(PATIENCE):
            html: str = await work_pool().run(person, format_tasks.FORMAT, text)
            return html
    except OverBudget:
        return plain_form(text, format_tasks.TOO_COSTLY)
    except (WorkError, TimeoutError):
        return None


async def formatted_blocks(person: Hashable, blocks: Sequence[str], progress: Progress) -> tuple[list[str], Progress]:
    """Return the HTML of some blocks of a text, and the progress for the next ones. Raises WorkError."""
    made = await work_pool().run(person, format_tasks.FORMAT_BLOCKS, list(blocks), progress)
    return made["html"], made["progress"]


def formatted_in_thread(person: Hashable, text: str) -> str | None:
    """Do the same in a thread that may wait as long as the work may take."""
    if (plain := _without_work(text)) is not None:
        return plain
    try:
        html: str = work_pool().run_blocking(person, format_tasks.FORMAT, text)
        return html
    except OverBudget:
        return plain_form(text, format_tasks.TOO_COSTLY)
    except WorkError:
        return None


def in_time(person: Hashable, texts: Sequence[str]) -> list[SafeString]:
    """Return the HTML of some texts, "" for those that are not ready in time. For the thread of a page."""
    ends = time.monotonic() + PATIENCE
    late = (formatted_in_thread(person, text) if time.monotonic() < ends else None for text in texts)
    return [mark_safe(html or "") for html in late]


def _without_work(text: str) -> str | None:
    if len(text) > format_tasks.LONGEST:
        return plain_form(text, format_tasks.TOO_LONG)
    return None if text.strip() else ""


def complete(person: Hashable, shown: AnyTranscript) -> AnyTranscript:
    """Return a transcript with the HTML that some messages lack, as far as it is ready in time, and store it.

    For the thread of a page, outside a transaction. The first one may take all the time that its work may have, so
    that each load completes more.
    """
    return replace(shown, messages=_completed(person, shown.messages))


def _completed(person: Hashable, messages: tuple[ShownMessage, ...]) -> tuple[ShownMessage, ...]:
    ends = time.monotonic() + PATIENCE
    made: dict[int, str] = {}
    for shown in messages:
        if not shown.formatted and time.monotonic() < ends:
            html = formatted_in_thread(person, shown.text)
            if html is not None:
                made[shown.id] = html
    if not made:
        return messages
    done = [replace(one, html=mark_safe(made[one.id]), formatted=True) if one.id in made else one for one in messages]
    _store([(one.id, one.text, one.html) for one in done if one.id in made])
    return tuple(done)


def stored(row: Message, text: str) -> SafeString | None:
    """Return the stored HTML of a message that shows this text, or None."""
    if (made := row.__dict__.get(MADE)) is not None and made[0] == text:
        return SafeString(made[1])
    kept: FormattedMessage | None = getattr(row, "formatted", None)
    if kept is not None and MESSAGE.is_cached(kept):
        # Rows that refer to each other wait for the garbage collector, with their texts.
        MESSAGE.delete_cached_value(kept)
    if kept is None or not constant_time_compare(kept.seal, _seal(text, kept.html)):
        return None
    return mark_safe(kept.html)


def keep(row: Message, text: str, html: str | None) -> None:
    """Store the HTML of a message that shows this text; runs in the transaction that finishes the message."""
    if html:
        sql.write_html(_row(row.pk, text, html))
        row.__dict__[MADE] = text, html


def _store(made: Sequence[tuple[int, str, str]]) -> None:
    try:
        _write([_row(*one) for one in made])
    except Error as error:
        # The page is shown anyway, and the next one tries again.
        log.warning("could not store the HTML of %d messages: %s", len(made), error)


def _row(message: int, text: str, html: str) -> FormattedMessage:
    return row_objects.new(FormattedMessage, message_id=message, html=html, seal=_seal(text, html))


def _write(rows: Sequence[FormattedMessage]) -> None:
    FormattedMessage.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["message"], update_fields=["html", "seal"]
    )


def _seal(text: str, html: str) -> str:
    bound = f"{format_tasks.VERSION}\n{len(text)}\n{text}{html}"
    return salted_hmac(SALT, bound.encode(errors="surrogatepass"), algorithm="sha256").hexdigest()
