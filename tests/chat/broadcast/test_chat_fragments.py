"""The partials of the chat that live frames are made of."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from django.utils.safestring import mark_safe

from chat.broadcast import fragments, message_template_cache
from chat.transcript.messages.call_groups import CallGroup
from chat.transcript.messages.view_models import ShownCall, ShownMessage, ShownQuestion, ShownUsage
from tests.markup import flat
from tests.tables import every
from toolsupport.rendering import messages

CALL = ShownCall(
    id="5",
    name="read_file",
    phrase="Read",
    target="config.json",
    arguments={"path": "config.json", "lines": [1, 2]},
    status="done",
    format="native",
    served_by="read_file",
    duration_ms=120,
    result='{"version":"2.4.1"}',
)


def test_a_card_is_closed_with_one_line_and_opens_to_everything() -> None:
    html = fragments.call(CALL)
    assert html.startswith('<details class="call" id="call-5" data-call="5" data-status="done">')
    for wanted in ("config.json", "[1, 2]", "&quot;version&quot;: &quot;2.4.1&quot;", "1 line · 120 ms", "native"):
        assert wanted in html, wanted


@every(
    "status, answer, word",
    [
        ("waiting", "", "Needs approval"),
        ("failed", "", "Failed · 30 s"),
        ("timeout", "", "Timed out after 30 s"),
        ("denied", "deny", "Denied"),
        ("denied", "expired", "Expired"),
        ("rejected", "", "Not run"),
    ],
)
def test_a_card_says_its_state_in_words(status: str, answer: str, word: str) -> None:
    html = flat(fragments.call(replace(CALL, status=status, answer=answer, duration_ms=30_000)))
    assert f'<span class="state" dir="auto">{word} </span>' in html.replace("</span>", " </span>").replace("  ", " ")


def test_many_calls_of_one_tool_are_one_row_that_opens_for_a_failure() -> None:
    calls = [replace(CALL, id=str(number), status="failed" if number == 2 else "done") for number in range(1, 5)]
    html = flat(fragments.message(ShownMessage(9, None, "assistant", "", calls=tuple(calls))))
    assert 'id="group-1" data-members="1 2 3 4" open>' in html
    assert "Read 3 of 4 files · 1 failed" in html and "Show 3 more that worked" in html
    worked = flat(fragments.message(ShownMessage(9, None, "assistant", "", calls=(calls[0], calls[2], calls[3]))))
    assert 'data-members="1 3 4"> <summary>' in worked and "more that worked" not in worked
    bare = flat(fragments.group(CallGroup(calls)))
    assert bare.count('class="call"') == 0 and "Read 3 of 4 files · 1 failed" in bare


def test_a_card_shows_what_was_changed() -> None:
    html = fragments.call(replace(CALL, asked_as="bash", repairs=("1 comma added",), raw="{'name'}"))
    for wanted in ("bash", "1 comma added", "{&#x27;name&#x27;}"):
        assert wanted in html


HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(1)>'


@pytest.mark.parametrize(
    "shown",
    [
        replace(CALL, target=HOSTILE, name=HOSTILE, phrase=HOSTILE),
        replace(CALL, arguments={HOSTILE: HOSTILE}, result=HOSTILE, error=HOSTILE, raw=HOSTILE),
        replace(CALL, repairs=(HOSTILE,), asked_as=HOSTILE, served_by=HOSTILE, format=HOSTILE),
        ShownMessage(1, None, "user", HOSTILE),
        ShownMessage(1, None, "assistant", HOSTILE, thinking=HOSTILE, finished=False, model=HOSTILE),
        ShownMessage(
            1, None, "assistant", "", html=mark_safe(messages.render(HOSTILE)), ended="failed", ended_detail=HOSTILE
        ),
        ShownMessage(1, None, "notice", HOSTILE, code="switched"),
    ],
)
def test_hostile_values_stay_text(shown: Any) -> None:
    html = fragments.call(shown) if isinstance(shown, ShownCall) else fragments.message(shown)
    assert "<script" not in html
    assert "<img" not in html


def test_growing_text_is_the_only_child_of_its_place() -> None:
    # The script counts its characters: no whitespace may stand around it.
    html = fragments.message(ShownMessage(9, None, "assistant", " a\nb ", thinking=" t ", finished=False))
    assert re.search(r"<div[^>]* data-text[^>]*> a\nb </div>", html)
    assert re.search(r"<div[^>]* data-thinking[^>]*> t </div>", html)
    assert 'data-finished="false"' in html


def test_a_message_that_begins_has_empty_places() -> None:
    html = fragments.message(ShownMessage(9, None, "assistant", "", finished=False))
    assert re.search(r"<div[^>]* data-text[^>]*></div>", html)
    assert re.search(r'<details class="fold thinking" hidden>', html)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"ended": "stopped"}, "Stopped by you"),
        ({"ended": "failed", "ended_detail": "The answer broke off."}, "The answer broke off."),
        ({"ended": "interrupted", "ended_detail": "The server stopped."}, "The server stopped."),
        ({"ended": "failed", "ended_detail": "Start it: `lms server start`."}, "<code>lms server start</code>"),
        ({"thinking": "hm", "thinking_ms": 8200}, "Thought for 8.2 s"),
        ({"thinking": "hm", "finished": False}, "Thinking…"),
        ({}, "The model sent an empty answer."),
    ],
)
def test_a_message_says_how_it_went(changes: dict[str, Any], words: str) -> None:
    assert words in flat(fragments.message(ShownMessage(9, None, "assistant", "", **changes)))


def test_what_has_an_answer_is_not_called_empty() -> None:
    answers: list[dict[str, Any]] = [
        {"html": "<p>x</p>"},
        {"calls": (CALL,)},
        {"ended": "stopped"},
        {"finished": False},
    ]
    for changes in answers:
        assert "empty answer" not in fragments.message(ShownMessage(9, None, "assistant", "", **changes))


def test_a_notice_is_no_bubble() -> None:
    html = fragments.message(ShownMessage(3, None, "notice", "Switched.", code="switched"))
    assert html.startswith('<div class="notice" id="message-3"')
    assert 'data-code="switched"' in html


def test_no_key_in_a_field_of_an_approval_presses_its_first_button() -> None:
    shown = ShownQuestion(7, "approval", "Replace notes.md?", ("once", "edit", "deny"), diff="+hello", act="Replace")
    html = fragments.call(replace(CALL, status="waiting", question=shown))
    assert "<input" not in html and 'name="reply"' in html
    assert html.index('value="once"') < html.index('value="deny"')


@every("role", ["user", "assistant"])
@every("parent", [None, 41])
@every("model", ["", "qwen3:8b", "<b>&</b>"])
@every("text", ["", "Hello", "<script>alert(\"1\")</script> & '2'", "{{ message.id }}\n0"])
def test_a_message_that_begins_an_answer_is_rendered_from_parts_as_from_its_template(
    role: str, parent: int | None, model: str, text: str
) -> None:
    for number in (7, 1_234_567):
        shown = ShownMessage(number, parent, role, text, finished=role == "user", model=model, conversation="c", turn=9)
        assert fragments.message(shown) == fragments._rendered("chat/message.html", {"message": shown})


def by_template(shown: ShownMessage) -> str:
    return fragments._rendered("chat/message.html", {"message": shown})


def test_marks_in_a_text_are_text() -> None:
    marks = " ".join(message_template_cache.MARKS)
    shown = ShownMessage(7, 41, "user", marks)
    assert fragments.message(shown) == by_template(shown)
    shown = ShownMessage(7, 41, "assistant", marks, html=mark_safe(marks), thinking=marks, conversation=CHAT, turn=3)
    assert fragments.message(shown) == by_template(shown)


CHAT = "0a7c9a7e-3c1c-4a52-9b5e-3a2f5f6d7e80"
USAGES: list[ShownUsage | None] = [
    None,
    ShownUsage(),
    ShownUsage(50, 49.7, 1234, 8192, 1006),
    ShownUsage(1, 0.5, 12, 0, 61_000),
    ShownUsage(1_234_567, 1000.0, 7000, 8192, 59_951),
    ShownUsage(3, 0.0, 0, 4096, 0, ("read_file",)),
    *(ShownUsage(50, 49.7, context, 8192, 1006) for context in (6512, 6513, 6600, 8150, 8151, 8192, 9000)),
]


@every("usage", USAGES)
@every(
    "changes",
    [
        {},
        {"thinking": "<i>&", "thinking_ms": 0},
        {"thinking": "hm", "thinking_ms": 8200, "may_go_on": True},
        {"asked": True, "parent": None, "model": "<b>&"},
        {"ended": "failed", "ended_detail": "The answer broke off."},
        {"siblings": (7, 9), "text": "", "html": ""},
        {"siblings": (9,), "asked": True},
        {"html": "<p>not safe</p>", "conversation": ""},
    ],
)
def test_a_finished_answer_is_rendered_from_parts_as_from_its_template(
    usage: ShownUsage | None, changes: dict[str, Any]
) -> None:
    whole = ShownMessage(
        9, 8, "assistant", "*a*", html=mark_safe("<p><em>a</em></p>"), turn=5, usage=usage, conversation=CHAT
    )
    for number in (9, 1_234_567):
        shown = replace(whole, **{"id": number, **changes})
        assert fragments.message(shown) == by_template(shown)


def test_equal_kinds_of_answers_are_rendered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def rendered(number: int, context: int = 10) -> str:
        usage = ShownUsage(number + 2, 9.5, context + number, 8192, number)
        shown = ShownMessage(number, 1, "assistant", f"text {number}", mark_safe(f"<p>{number}</p>"), usage=usage)
        shown = replace(shown, conversation=CHAT, turn=number, model="rendered once", siblings=(number,))
        return fragments.message(shown)

    rendered(11)
    rendered(11, context=7000)
    monkeypatch.delattr(message_template_cache, "render_to_string")
    assert "<p>12</p>" in rendered(12)
    assert "7,012 of 8,192" in rendered(12, context=7000)
