"""The addresses of the chat."""

from __future__ import annotations

from django.urls import path

from chat.pages import (
    chat,
    conversation_list,
    execute_tool,
    explain,
    images,
    insights,
    questions,
    sharing,
    tools,
)
from chat.pages.files import FILE_URLS
from chat.pages.mcp import MCP_URLS
from chat.pages.memory import MEMORY_URLS
from chat.pages.prompts import PROMPT_URLS

urlpatterns = [
    path("", chat.home, name="chat"),
    path("chat/new/", chat.new, name="chat-new"),
    path("chat/<uuid:conversation_id>/", chat.conversation, name="conversation"),
    path("chat/<uuid:conversation_id>/messages/", chat.messages, name="conversation-messages"),
    path("chat/<uuid:conversation_id>/messages/<int:message_id>/wire/", chat.wire, name="message-wire"),
    path("chat/calls/<int:run_id>/picture/", images.of_call, name="call-picture"),
    path("chat/calls/<int:run_id>/table.csv", chat.table, name="call-table"),
    path("chat/<uuid:conversation_id>/picker/", chat.picker, name="conversation-picker"),
    path("chat/<uuid:conversation_id>/explain/", explain.of_conversation, name="conversation-explain"),
    path("chat/<uuid:conversation_id>/tools/", explain.narrow, name="conversation-tools"),
    path("models/<int:profile_id>/explain/", explain.of_model, name="model-explain"),
    path("chat/<uuid:conversation_id>/settings/", chat.settings, name="conversation-settings"),
    path("chat/list/", conversation_list.listed, name="conversations"),
    path("chat/list/unfinished/", conversation_list.unfinished, name="conversations-unfinished"),
    path("chat/<uuid:conversation_id>/actions/", conversation_list.actions, name="conversation-actions"),
    path("chat/<uuid:conversation_id>/rename/", conversation_list.rename, name="conversation-rename"),
    path("chat/<uuid:conversation_id>/archive/", conversation_list.archive, name="conversation-archive"),
    path("chat/<uuid:conversation_id>/delete/", conversation_list.delete, name="conversation-delete"),
    path(
        "chat/<uuid:conversation_id>/export.md", conversation_list.export_markdown, name="conversation-export-markdown"
    ),
    path("chat/<uuid:conversation_id>/export.json", conversation_list.export_json, name="conversation-export-json"),
    path("chat/<uuid:conversation_id>/readers/", sharing.readers, name="conversation-readers"),
    path("chat/<uuid:conversation_id>/readers/withdraw/", sharing.withdraw, name="conversation-reader-withdraw"),
    path("shared/", sharing.listed, name="shared"),
    path("shared/<uuid:shared_id>/", sharing.read, name="shared-conversation"),
    path("others/", sharing.others, name="others"),
    path("others/<uuid:foreign_id>/", sharing.look_into, name="others-conversation"),
    path("chat/<uuid:conversation_id>/images/", images.shown, name="conversation-image"),
    path("chat/<uuid:conversation_id>/images/add/", images.add, name="conversation-image-add"),
    path("chat/<uuid:conversation_id>/asks/", questions.asks, name="conversation-asks"),
    path("chat/<uuid:conversation_id>/grants/", questions.grants, name="conversation-grants"),
    path("chat/<uuid:conversation_id>/grants/revoke/", questions.revoke, name="conversation-grant-revoke"),
    path("questions/<int:question_id>/answer/", questions.answer, name="question-answer"),
    path("insights/calls/", insights.calls, name="insights-calls"),
    path("tools/", tools.tools, name="tools"),
    path("tools/defaults/", tools.defaults, name="tools-defaults"),
    path("tools/switch/", tools.switch, name="tool-switch"),
    path("tools/filter/", tools.leave_out, name="tool-filter"),
    path("tools/formats/", tools.set_formats, name="tools-formats"),
    path("tools/switches/", tools.set_switches, name="tools-switches"),
    path("api/tools/execute", execute_tool.execute, name="api-tool-execute"),
    *FILE_URLS,
    *MCP_URLS,
    *MEMORY_URLS,
    *PROMPT_URLS,
]
