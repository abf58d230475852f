"""Fills the sample code of the page "Use it from your code" with an address, a key and a model."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Hashable
from dataclasses import dataclass
from html import escape
from typing import Any

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from toolsupport.registry.models import picker
from toolsupport.rendering import format_tasks
from toolsupport.work_pool.pool import work_pool
from toolsupport.work_pool.types import WorkError

KEY = re.compile(r"tsk-[\w-]{20,80}", re.ASCII)
NO_KEY, NO_MODEL = "tsk-…", "server/model"
TITLE = re.compile(r"^## (.+)\n", re.M)


@dataclass(frozen=True, slots=True)
class Sample:
    """The code for one program, as safe HTML."""

    title: str
    html: SafeString


def context(request: HttpRequest, model: str = "", key: str = "") -> dict[str, Any]:
    """Return the context of the page: samples for the chosen model, or for the one that a new chat would have."""
    numbers = choices()
    number = numbers[model] if model in numbers else picker.first_choice()
    shown = picker.shown(number)
    key = key if KEY.fullmatch(key) else ""
    values = {
        "base": request.build_absolute_uri("/v1"),
        "site": request.build_absolute_uri("/").rstrip("/"),
        "model": next((name for name, one in numbers.items() if one == number), NO_MODEL),
        "key": key or NO_KEY,
    }
    page = {"models": list(numbers), "evidence": shown and shown.evidence, "samples": samples(request.user.pk, values)}
    return {**values, "key": key, "hidden": picker.hidden_note(), **page}


def choices() -> dict[str, int]:
    """Return the ids of the models by name; an unprintable name is left out, since it could end a line of code."""
    names = {f"{row.server.name}/{row.name}": row.pk for row in picker.chatting()}
    return {name: number for name, number in names.items() if name.isprintable()}


def samples(person: Hashable, values: dict[str, str]) -> list[Sample]:
    """Return the samples with these values, each escaped as a string of its language."""
    quoted = {name: json.dumps(value, ensure_ascii=False) for name, value in values.items()}
    shell = {name: shlex.quote(value) for name, value in values.items()}
    shell["bearer"] = shlex.quote(f"Authorization: Bearer {values['key']}")
    opencode = json.dumps(f"toolsupport/{values['model']}", ensure_ascii=False)
    text = render_to_string("toolsupport/code_samples.md", {**quoted, "shell": shell, "opencode_model": opencode})
    _, *parts = TITLE.split(text)
    html = formatted(person, parts[1::2])
    return [Sample(title, mark_safe(one)) for title, one in zip(parts[::2], html, strict=True)]


def formatted(person: Hashable, texts: list[str]) -> list[str]:
    """Return Markdown as safe HTML, or its plain form if no worker is free."""
    try:
        html: list[str] = work_pool().run_blocking(person, format_tasks.FORMAT_BLOCKS, texts, {})["html"]
    except WorkError:
        return [f'<pre tabindex="0" dir="ltr">{escape(text)}</pre>' for text in texts]
    return html
