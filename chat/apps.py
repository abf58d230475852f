"""The Django application with the rows of chats."""

from django.apps import AppConfig


class ChatConfig(AppConfig):
    name = "chat"
    verbose_name = "Conversations"
    default_auto_field = "django.db.models.BigAutoField"
