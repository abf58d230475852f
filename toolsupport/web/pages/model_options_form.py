"""The form of a model's request settings."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django import forms

from toolsupport.core import format_choice
from toolsupport.core.prompt.turn_context import TURN_CONTEXTS
from toolsupport.registry.models.profiles import ModelPage
from toolsupport.registry.settings.model_settings import (
    KEEP_ALIVE,
    LONGEST_WAIT,
    THINK_LEVELS,
    ModelOptions,
)

FEWEST_TOKENS, MOST_TOKENS = 512, 2_097_152
WAIT_HELP = "In seconds, including loading. Empty: the default."

# Form value → option; the first one leaves it unset.
THINK = {"": None, "true": True, "false": False} | {level: level for level in THINK_LEVELS}
THINK_WORDS = {"": "The server decides", "true": "On", "false": "Off"}
SWITCH = {"": None, "true": True, "false": False}
CHOICE_WORDS = {"": "The model decides", "required": "Must call a tool first", "none": "Never calls a tool"}
FORMATS = [(name, format_choice.label(name)) for name in format_choice.names()]
CONTEXT_WORDS = {"": "Automatic"} | {name: notice.capitalize() for name, notice in TURN_CONTEXTS.items()}


# The groups of the settings of a model, in order.
GROUPS = {
    "Generation": ("num_ctx", "temperature", "think", "keep_alive", "first_token", "between"),
    "Tool calls": ("format", "tool_choice", "parallel_tool_calls", "turn_context", "disabled_formats"),
    "Automation": ("grows", "learns", "translation", "strong_nudge"),
}


class OptionsForm(forms.Form):
    """The request settings of a model."""

    num_ctx = forms.IntegerField(
        min_value=FEWEST_TOKENS,
        max_value=MOST_TOKENS,
        label="Context `num_ctx`",
        help_text="In tokens. A change makes the server reload the model.",
    )
    grows = forms.ChoiceField(
        required=False,
        choices=[("", "Yes"), ("false", "No")],
        label="Grow context automatically",
        help_text="Used when a chat does not fit. A context that does not load is reverted.",
    )
    temperature = forms.FloatField(
        required=False, min_value=0, max_value=2, label="Temperature", help_text="0 to 2; empty: 0.3 with tools."
    )
    keep_alive = forms.RegexField(
        rf"^{KEEP_ALIVE}$",
        required=False,
        label="Keep loaded `keep_alive`",
        help_text="For example 10m or 1h, -1 for always; empty: the server decides.",
        error_messages={"invalid": "Write a time such as 30s, 10m or 1h, or -1 for always."},
    )
    think = forms.ChoiceField(
        required=False, choices=[(key, THINK_WORDS.get(key, key.capitalize())) for key in THINK], label="Thinking"
    )
    tool_choice = forms.ChoiceField(
        required=False,
        choices=list(CHOICE_WORDS.items()),
        label="Tool choice `tool_choice`",
        help_text="Left out for servers without this setting.",
    )
    parallel_tool_calls = forms.ChoiceField(
        required=False,
        choices=[("", "The server decides"), ("true", "Allowed"), ("false", "Not allowed")],
        label="Parallel calls `parallel_tool_calls`",
    )
    turn_context = forms.ChoiceField(
        required=False,
        choices=list(CONTEXT_WORDS.items()),
        label="Prompt with tools `tool_turn_context`",
        help_text="With a short prompt, AGENTS.md, IDENTITY.md and SOUL.md of the chat's files are read as well.",
    )
    strong_nudge = forms.ChoiceField(
        required=False,
        choices=[("", "For models of Ollama"), ("true", "Yes"), ("false", "No")],
        label="Tool-use reminder",
    )
    first_token = forms.FloatField(
        required=False, min_value=1, max_value=LONGEST_WAIT, label="Wait for the first word", help_text=WAIT_HELP
    )
    between = forms.FloatField(
        required=False, min_value=1, max_value=LONGEST_WAIT, label="Wait for the next word", help_text="In seconds."
    )

    learns = forms.ChoiceField(
        required=False,
        choices=[("", "As set by the team"), ("false", "No")],
        label="Learn from refusals",
        help_text="If off, refusals of tools are not remembered.",
    )
    translation = forms.ChoiceField(
        required=False,
        choices=[("", "Yes"), ("false", "No")],
        label="Tool substitution",
        help_text="A model that refuses file tools but uses bash is offered bash instead.",
    )
    format = forms.ChoiceField(
        required=False,
        choices=[("", "Automatic"), *FORMATS],
        label="Preferred call format",
        help_text="A chat may prefer another one.",
    )
    disabled_formats = forms.MultipleChoiceField(
        required=False, choices=FORMATS, widget=forms.CheckboxSelectMultiple, label="Never use"
    )

    @classmethod
    def of(cls, page: ModelPage) -> OptionsForm:
        return cls(initial={name: _as_chosen(value) for name, value in asdict(page.options).items()})

    def changed(self) -> list[str]:
        """Return the fields that differ from the default; the context has none."""
        return [name for name, value in self.initial.items() if name != "num_ctx" and value not in (None, "", ())]

    def groups(self) -> list[tuple[str, list[forms.BoundField]]]:
        """Return the fields by the groups of the page."""
        return [(title, [self[name] for name in names]) for title, names in GROUPS.items()]

    def options(self) -> ModelOptions:
        chosen = dict(self.cleaned_data)
        chosen["think"] = THINK[chosen["think"]]
        for switch in ("parallel_tool_calls", "strong_nudge", "learns", "translation", "grows"):
            chosen[switch] = SWITCH[chosen[switch]]
        chosen["disabled_formats"] = tuple(chosen["disabled_formats"])
        return ModelOptions(**chosen)


def _as_chosen(value: Any) -> Any:
    """Return a value in the notation of its form field."""
    return str(value).lower() if isinstance(value, bool) else value
