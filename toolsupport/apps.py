"""The Django application with the rows about models."""

from django.apps import AppConfig


class ToolsupportConfig(AppConfig):
    name = "toolsupport"
    verbose_name = "Models and evidence"
    default_auto_field = "django.db.models.BigAutoField"
