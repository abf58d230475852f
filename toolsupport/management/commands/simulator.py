"""Serves the simulated models alone."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from toolsupport.simulator.__main__ import SimulatorOptions, add_arguments, run


class Command(BaseCommand):
    help = "Serve simulated models with known quirks, as an Ollama and an OpenAI-compatible server."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            run(SimulatorOptions(**{name: options[name] for name in SimulatorOptions.__dataclass_fields__}))
        except OSError as error:
            raise CommandError(f"The simulator cannot listen: {error}") from error
