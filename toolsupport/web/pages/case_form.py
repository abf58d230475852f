"""The form of a case of an exam: its parts as JSON that people edit."""

from __future__ import annotations

import json
from typing import Any

from django import forms

from toolsupport.core.errors import ConfigError
from toolsupport.core.exams import exam_files
from toolsupport.core.exams.cases import LONGEST_NAME, ExamCase, read_case
from toolsupport.core.types import JSON

ORDER_WORDS = {"any": "Any order", "exact": "This order"}
PARTS = ("messages", "tools", "recorded", "expected")
# The parts of a case that have no field of their own.
KEPT = ("group", "together")


def _part(label: str, rows: int, help_text: str) -> forms.CharField:
    widget = forms.Textarea(attrs={"rows": rows, "class": "mono", "spellcheck": "false"})
    return forms.CharField(label=label, widget=widget, help_text=help_text, required=False, strip=False)


class CaseForm(forms.Form):
    """A case. The fields keep the person's text even if it is invalid; `case` is the result.

    `stale`: another person changed the stored case in the meantime.
    """

    id = forms.CharField(label="Name of the case", max_length=LONGEST_NAME)
    messages = _part("Messages", 10, "The conversation up to the request, as a JSON list.")
    expected = _part("Expected calls", 8, "A JSON list. An empty list: the model must not call a tool.")
    order = forms.ChoiceField(label="Order of the calls", choices=ORDER_WORDS.items())
    recorded = _part("Recorded results", 8, "They answer the calls of the model. No tool is executed.")
    tools = _part("Tools", 8, "The offered tools, as a JSON list.")
    answer = _part("Rule for the answer", 3, 'Optional, such as {"contains": [["12.50", "12,50"]]}.')

    def __init__(self, *given: Any, kept: JSON | None = None, **more: Any) -> None:
        super().__init__(*given, **more)
        self._kept = kept or {}
        self.case: ExamCase | None = None
        self.stale = False

    def clean(self) -> dict[str, Any]:
        """Read the parts, each with its own errors, and then the case."""
        parts = {name: self._read(name, "[]") for name in PARTS} | {"answer": self._read("answer", "null")}
        if not self.errors:
            try:
                self.case = read_case(self._kept | {name: self.cleaned_data[name] for name in ("id", "order")} | parts)
            except ConfigError as error:
                self.add_error(None, str(error))
        return self.cleaned_data

    def _read(self, name: str, empty: str) -> Any:
        label = str(self.fields[name].label)
        try:
            return exam_files.value(self.cleaned_data.get(name, "").strip() or empty, label)
        except ConfigError as error:
            self.add_error(name, str(error))
            return None


class NewCaseForm(CaseForm):
    """A case with the exam that it is added to."""

    suite = forms.CharField(
        label="Exam",
        max_length=LONGEST_NAME,
        help_text="An exam of the team, or a new name.",
        widget=forms.TextInput(attrs={"list": "team-exams", "autocomplete": "off"}),
    )
    field_order = ("suite", "id")


def initial(case: ExamCase) -> dict[str, Any]:
    """Return the texts of the fields for a case."""
    body = case.to_json()
    parts = {name: json.dumps(body[name], ensure_ascii=False, indent=2) for name in PARTS}
    rule = json.dumps(body["answer"], ensure_ascii=False, indent=2) if "answer" in body else ""
    return {"id": case.id, "order": case.order, "answer": rule} | parts


def kept(case: ExamCase) -> JSON:
    """Return the parts that an edited case keeps from its earlier version."""
    return {name: part for name, part in case.to_json().items() if name in KEPT}
