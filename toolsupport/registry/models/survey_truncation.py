"""Bounds a model server's reports to the size of the columns: texts, numbers of models and abilities."""

from __future__ import annotations

from dataclasses import replace

from django.db.models import CharField

from toolsupport.core import name_checks, sanitize
from toolsupport.models import ModelProfile, Server
from toolsupport.providers.survey_types import ModelDetails, ModelReport, ServerReport

MOST_MODELS = 5_000
MOST_ABILITIES, LONGEST_ABILITY = 50, 40


def bounded(report: ServerReport) -> ServerReport:
    """Return the report with texts that fit; a model with too long a name is left out: a cut name is another."""
    models = [_model(model) for model in report.models if _fits(model.name)]
    return ServerReport(_cut(report.version, Server, "version"), tuple(models[:MOST_MODELS]))


def bounded_details(details: ModelDetails) -> ModelDetails:
    """Return the details of one model with texts that fit."""
    return replace(
        details,
        capabilities=_abilities(details.capabilities),
        quantization=_cut(details.quantization, ModelProfile, "quantization"),
        family=_cut(details.family, ModelProfile, "family"),
    )


def _model(model: ModelReport) -> ModelReport:
    return replace(
        model,
        digest=None if model.digest is None else _cut(model.digest, ModelProfile, "digest"),
        family=_cut(model.family, ModelProfile, "family"),
        quantization=_cut(model.quantization, ModelProfile, "quantization"),
        capabilities=_abilities(model.capabilities),
        details=bounded_details(model.details) if model.details else None,
    )


def _fits(name: str) -> bool:
    return len(name) <= _longest(ModelProfile, "name") and not name_checks.problem(name)


def _abilities(listed: tuple[str, ...] | None) -> tuple[str, ...] | None:
    return None if listed is None else tuple(sanitize.text(one[:LONGEST_ABILITY]) for one in listed[:MOST_ABILITIES])


def _cut(text: str, table: type[ModelProfile | Server], column: str) -> str:
    """Return the text cut to its column."""
    longest = _longest(table, column)
    return sanitize.text(text[:longest])[:longest]


def _longest(table: type[ModelProfile | Server], column: str) -> int:
    field = table._meta.get_field(column)
    assert isinstance(field, CharField)
    return field.max_length or 0
