"""The URL patterns for programs."""

from __future__ import annotations

from django.urls import path

from toolsupport.gateway import views

urlpatterns = [
    path("v1/models", views.models, name="v1-models"),
    path("v1/models/<path:model_id>", views.model, name="v1-model"),
    path("v1/chat/completions", views.completions, name="v1-completions"),
    path("v1/embeddings", views.embeddings, name="v1-embeddings"),
    path("v1/responses", views.responses, name="v1-responses"),
    path("v1/messages", views.messages, name="v1-messages"),
    path("v1/messages/count_tokens", views.count_tokens, name="v1-count-tokens"),
    path("api/openapi.json", views.openapi, name="api-openapi"),
]
