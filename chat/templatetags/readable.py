"""Template filters that format values of the chat for people."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from itertools import zip_longest
from typing import Any

from django import template
from django.template import Context
from django.template.loader import render_to_string
from django.utils.html import format_html, format_html_join

from chat.transcript.messages import call_phrases, table_chart
from chat.transcript.messages.call_groups import grouped
from chat.transcript.messages.duration_text import duration
from chat.transcript.messages.mcp_result_parts import ResultPart, parts
from chat.transcript.messages.view_models import ShownCall
from toolsupport.core import format_choice, invisible_chars, server_flags
from toolsupport.core.diff_rows import DiffLayout, layout
from toolsupport.registry.models.profiles import CapabilityCell, ModelRow
from toolsupport.web import sentences

register = template.Library()
register.filter(duration)

MODEL_ROW = "toolsupport/model_row.html"
CLAIM = "declared"  # the step that reads the server's claims
CLAIMS = {"passed": "claimed", "failed": "not-claimed"}
# State of a step that has a mark of its own; otherwise the mark is its result.
STEP_STATES = {"running": "running", "skipped": "skipped", "not_needed": "skipped"}
# Text in backquotes, and identifiers (a tool, a setting).
CODE = re.compile(r"`([^`\n]+)`|(?<![\w/.-])([a-z][a-z0-9]*(?:_[a-z0-9]+)+)(?![\w/-]|[.]\w)")


@register.simple_tag
def icon(name: str) -> str:
    """Return `parts/icon.html` for this name, rendered once: every answer has five of them."""
    return _icon(name)


@cache
def _icon(name: str) -> str:
    return render_to_string("parts/icon.html", {"name": name})


@register.simple_tag
def evidence(state: str, word: str, stale: bool) -> str:
    """Return `parts/evidence.html` for these, rendered once: a table of models has hundreds of equal ones."""
    return _part("parts/evidence.html", state=state, word=word, stale=stale)


@register.simple_tag
def capability_cell(cell: CapabilityCell) -> str:
    """Return a cell of the matrix, rendered once for all equal cells."""
    if cell.capability == "context":
        return _part("parts/context_cell.html", words="" if cell.state == "unknown" else cell.words)
    shown = {"about": cell.capability, "look": cell.look, "spoken": cell.spoken, "sign": cell.sign}
    return _part("parts/capability_cell.html", **shown)


@register.simple_tag(takes_context=True)
def model_row(context: Context, row: ModelRow) -> str:
    """Return a line of the matrix, rendered again only if something in it differs, or if it has a form.

    Needs `needing`, `may_detect` and `oob`.
    """
    needing, may_detect, oob = row.id in context["needing"], bool(context["may_detect"]), bool(context.get("oob"))
    if row.older and may_detect and row.testable:
        token = {"csrf_token": context.get("csrf_token")}
        return render_to_string(MODEL_ROW, _in_row(row, needing, may_detect, oob) | token)
    return _row(row, needing, may_detect, oob)


def _in_row(row: ModelRow, needing: bool, may_detect: bool, oob: bool) -> dict[str, Any]:
    return {"row": row, "needing": (row.id,) if needing else (), "may_detect": may_detect, "oob": oob}


@lru_cache(maxsize=1000)
def _row(row: ModelRow, needing: bool, may_detect: bool, oob: bool) -> str:
    return render_to_string(MODEL_ROW, _in_row(row, needing, may_detect, oob))


@lru_cache(maxsize=2000)
def _part(name: str, **context: str | bool) -> str:
    return render_to_string(name, context)


@register.filter
def undo_of(tags: str) -> dict[str, str] | None:
    """Return the fields of the button Undo of a message, from its tags; None for a message without one."""
    word, *given = tags.split(" ")
    return dict(zip(("model", "capability", "newest", "rows"), given, strict=True)) if word == "undo" else None


@register.filter
def in_groups(calls: Iterable[ShownCall]) -> list[Any]:
    """Return the rows of an answer's calls: single ones, and groups of one tool."""
    return list(grouped(calls))


@register.filter
def pretty(value: Any) -> str:
    """Return indented JSON for a value or for a text that is a JSON object or list; other texts unchanged."""
    if isinstance(value, str):
        if not value.lstrip().startswith(("{", "[")):
            return value
        try:
            return _indented(json.loads(value))
        except (ValueError, RecursionError):
            return value
    return _indented(value)


@register.filter
def plain(value: Any) -> str:
    """Return an argument for people: texts unquoted, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@register.filter
def thousands(number: int) -> str:
    """Return a number with commas between its thousands."""
    return f"{number:,}"


@register.filter
def spaced(name: str) -> str:
    """Format the name of a field as words."""
    return name.replace("_", " ")


@register.filter
def tokens(number: int) -> str:
    """Format a context length: 8192 as "8K", 5000 as "5,000 tokens"."""
    return f"{number // 1024}K" if number >= 1024 and not number % 1024 else f"{number:,} tokens"


@register.filter
def seen(text: str) -> str:
    """Return a text with invisible characters written out, for a person who decides about it."""
    return invisible_chars.written_out(text)


@register.filter
def with_code(text: str) -> str:
    """Return a sentence with backquoted parts and names of the code as code."""
    pieces = enumerate(CODE.split(str(text)))
    return format_html_join(
        "", "{}", ((format_html("<code>{}</code>", it) if n % 3 else it,) for n, it in pieces if it)
    )


@register.filter
def outcome(code: str) -> str:
    """Return the words for the outcome of a trial."""
    return sentences.outcome(code)


@register.filter
def format_name(name: str) -> str:
    """Return the name of a call format for people; "" is the one that chats with the model use."""
    return format_choice.label(name) if name else "In use"


@register.filter
def family_value(value: str) -> str:
    """Return the words for a value of a family."""
    return sentences.family_value(value)


@register.filter
def flag_needed(flag: str) -> str:
    """Return the sentence about a setting that a server lacks."""
    return with_code(server_flags.sentence(flag))


@register.filter
def step_state(step: Mapping[str, Any]) -> str:
    """Return the mark of a test's step: its result, its current state, or ended for tests of earlier versions.

    A server's claim is no result: it is claimed or not.
    """
    state = str(step.get("state", ""))
    found = str(STEP_STATES.get(state) or step.get("result") or ("ended" if state == "done" else "not-started"))
    return CLAIMS.get(found, found) if step.get("step") == CLAIM else found


@register.filter
def trial_state(passed: bool | None, step: str) -> str:
    """Return the mark of a trial of this step, as `step_state` does."""
    found = "inconclusive" if passed is None else "passed" if passed else "failed"
    return step_state({"result": found, "step": step})


@register.filter
def is_text(value: Any) -> bool:
    """Return True for values that can be edited in a text field."""
    return isinstance(value, str)


@register.filter
def csv_table(text: str) -> dict[str, Any]:
    """Return the header, first rows and note of a CSV result; `lines` are the rows, each with its bar."""
    (head, *rows), note = table_chart.query_table(text)
    shown = rows[: table_chart.SHOWN_ROWS]
    chart = table_chart.chart(head, shown)
    lines = list(zip_longest(shown, chart.bars if chart else ()))
    return {"chart": chart, "head": head, "lines": lines, "note": note, "hidden": max(0, len(rows) - len(shown))}


@register.filter
def typed_parts(result: str) -> list[ResultPart]:
    """Return the parts of an MCP tool's result, each with its kind."""
    return parts(result)


KINDS = {"+": "added", "-": "removed", "@": "place"}


@register.filter
def anonymous_target(name: str) -> str:
    """Return the object of a call, without its arguments."""
    return call_phrases.anonymous(name)


@register.filter
def diff_rows(diff: str) -> DiffLayout:
    """Return the rows of a unified diff, with line numbers and marked words."""
    return layout(diff)


@register.filter
def diff_lines(diff: str) -> list[tuple[str, str]]:
    """Return the lines of a unified diff, each with its kind: added, removed, place, head or same."""
    lines = diff.split("\n")
    kinds = [KINDS.get(line[:1], "same") for line in lines]
    # Only the first two lines are: a removed line may begin with dashes of its own.
    kinds[:2] = [
        "head" if line.startswith(("+++", "---")) else kind for kind, line in zip(kinds, lines[:2], strict=False)
    ]
    return list(zip(kinds, lines, strict=True))


def _indented(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
