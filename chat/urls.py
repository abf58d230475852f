"""The addresses of the chat."""

from __future__ import annotations

from django.urls import path

from chat import pages, question_pages
from chat.files import FILE_URLS

urlpatterns = [
    path("", pages.home, name="chat"),
    path("chat/new/", pages.new, name="chat-new"),
    path("chat/<uuid:conversation_id>/", pages.conversation, name="conversation"),
    path("chat/<uuid:conversation_id>/messages/", pages.messages, name="conversation-messages"),
    path("chat/<uuid:conversation_id>/picker/", pages.picker, name="conversation-picker"),
    path("chat/<uuid:conversation_id>/settings/", pages.settings, name="conversation-settings"),
    path("questions/<int:question_id>/answer/", question_pages.answer, name="question-answer"),
    *FILE_URLS,
]
