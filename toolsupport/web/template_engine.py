"""The template engine of Django, which frees the context of a template when that has been rendered.

A context and its dictionaries refer to each other. Without this, all that a page shows would stay in memory until the
next garbage collection.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.template import Template
from django.template.backends import django as backend
from django.template.context import make_context
from django.template.exceptions import TemplateDoesNotExist
from django.utils.safestring import SafeString


class FreeingTemplate(backend.Template):
    """A template of this engine."""

    def render(self, context: dict[str, Any] | None = None, request: HttpRequest | None = None) -> SafeString:
        made = make_context(context, request, autoescape=self.backend.engine.autoescape)
        try:
            return self.template.render(made)
        except TemplateDoesNotExist as error:
            backend.reraise(error, self.backend)
            raise
        finally:
            made.dicts.clear()


class FreeingTemplates(backend.DjangoTemplates):
    """The engine that `TEMPLATES` names."""

    def from_string(self, template_code: str) -> FreeingTemplate:
        return FreeingTemplate(self.engine.from_string(template_code), self)

    def get_template(self, template_name: str) -> FreeingTemplate:
        found: Template = super().get_template(template_name).template
        return FreeingTemplate(found, self)
