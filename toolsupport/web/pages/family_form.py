"""The form in which an administrator writes a family of the team."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.http import QueryDict

from toolsupport.core import name_checks
from toolsupport.core.families.name_words import ANY_SIZE, pattern_words
from toolsupport.core.families.table import CALL_FORMATS, MULTI_TURN, PROMPT_STYLES
from toolsupport.registry.knowledge import team_families
from toolsupport.registry.knowledge.team_families import TeamFamily
from toolsupport.web import sentences

# Bounds that keep matching quick: every name of every server is compared with every pattern.
MOST, LONGEST = 20, 100
LARGEST = 100_000_000
TRUTH = {"": None, "yes": True, "no": False}
ASKED = [("", "No entry"), ("yes", "Yes"), ("no", "No")]
SWITCHES = ("tools", "parallel", "streaming_calls", "thinking", "vision")
LISTS = ("patterns", "excepted", "refuses")


def _words(values: Iterable[str]) -> list[tuple[str, str]]:
    return [("", "No entry"), *((value, sentences.family_value(value)) for value in sorted(values))]


def _lines(label: str, help_text: str, required: bool = False) -> forms.CharField:
    area = forms.Textarea(attrs={"rows": 3})
    return forms.CharField(required=required, max_length=3000, label=label, help_text=help_text, widget=area)


class TeamFamilyForm(forms.Form):
    """A family with the fields of the built-in table; an empty field is unknown."""

    name = forms.CharField(max_length=80, label="Name")
    patterns = _lines(
        "Patterns", "One per line, as in my-model or my-model-{size}-chat. Whole words; longest first.", True
    )
    excepted = _lines("Except", "Words that exclude a name, one per line.")
    tools = forms.ChoiceField(required=False, choices=ASKED, label="Native tool calls")
    call_format = forms.ChoiceField(required=False, choices=_words(CALL_FORMATS), label="Call format")
    parallel = forms.ChoiceField(required=False, choices=ASKED, label="Parallel calls")
    streaming_calls = forms.ChoiceField(required=False, choices=ASKED, label="Streams calls")
    prompt_style = forms.ChoiceField(required=False, choices=_words(PROMPT_STYLES), label="Prompt style")
    multi_turn = forms.ChoiceField(required=False, choices=_words(MULTI_TURN), label="Multi-turn")
    max_tools = forms.IntegerField(required=False, min_value=1, max_value=10_000, label="Most tools in one request")
    refuses = _lines("Refused tools", "Names of tools that it refuses, one per line.")
    thinking = forms.ChoiceField(required=False, choices=ASKED, label="Thinking")
    vision = forms.ChoiceField(required=False, choices=ASKED, label="Vision")
    context = forms.IntegerField(
        required=False, min_value=1, max_value=LARGEST, label="Context", help_text="In tokens."
    )
    notes = forms.CharField(
        required=False, max_length=2000, label="Source", help_text="Source of these facts.", widget=forms.Textarea
    )
    enabled = forms.BooleanField(required=False, initial=True, label="In use")

    def __init__(self, row: TeamFamily, sent: QueryDict | None = None) -> None:
        super().__init__(sent, initial=_initial(row))
        self.row = row
        self.fields["notes"].widget.attrs["rows"] = 2

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        for name in LISTS:
            if name in given:
                self._check(name, [line.strip() for line in given[name].splitlines() if line.strip()])
        if "name" in given and (why := name_checks.problem(given["name"])):
            self.add_error("name", f"The name {why}.")
        if "name" in given and team_families.named_like(given["name"], self.row.pk or 0):
            self.add_error("name", "The team already has a family of this name.")
        return given

    def _check(self, name: str, lines: list[str]) -> None:
        self.cleaned_data[name] = lines
        wrong = next((line for line in lines if len(line) > LONGEST or name_checks.problem(line)), None)
        if len(lines) > MOST or wrong is not None:
            notice = f"“{wrong[:40]}” is too long or has invisible characters." if wrong is not None else ""
            self.add_error(name, notice or f"Write {MOST} lines or fewer.")
        elif name == "patterns":
            self._check_patterns(lines)

    def _check_patterns(self, lines: list[str]) -> None:
        empty = next((line for line in lines if not set(pattern_words(line)) - {ANY_SIZE}), None)
        if empty is not None:
            self.add_error("patterns", f"“{empty}” has no word from a model's name.")
        elif other := team_families.taken(lines, self.row.pk or 0):
            self.add_error("patterns", f"The family {other} already has one of these patterns.")

    def family(self) -> TeamFamily:
        """Return the row with the values of the form; it is not saved."""
        given = dict(self.cleaned_data)
        given |= {name: TRUTH[given[name]] for name in SWITCHES}
        for name, value in given.items():
            setattr(self.row, name, value)
        return self.row


def _initial(row: TeamFamily) -> dict[str, Any]:
    values = {name: getattr(row, name) for name in TeamFamilyForm.base_fields}
    values |= {name: "\n".join(values[name] or ()) for name in LISTS}
    back = {value: word for word, value in TRUTH.items()}
    return values | {name: back[values[name]] for name in SWITCHES}
