"""Imports user_models.json into the model profiles."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from toolsupport.core.errors import ConfigError, NotFound
from toolsupport.registry.models.user_models_merge import MergeConsent, MergePlan
from toolsupport.registry.people import first_admin
from toolsupport.registry.people.permissions import Action, actions_of
from toolsupport.services import user_models_files


class Command(BaseCommand):
    help = "Merge user_models.json. Values that others confirmed become proposals unless --confirm is given."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="The file to read.")
        parser.add_argument("--dry-run", action="store_true", help="Print the changes without making them.")
        parser.add_argument(
            "--as",
            dest="person",
            metavar="USERNAME",
            help="Who imports. Required with --confirm and --outrank.",
        )
        parser.add_argument(
            "--confirm", action="store_true", help="Save what others confirmed as confirmed by this person."
        )
        parser.add_argument(
            "--outrank", action="store_true", help="Also replace decisions that people made on this site."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            data = options["file"].read_bytes()
        except OSError as error:
            raise CommandError(f"{options['file']} cannot be read: {error.strerror}.") from error
        try:
            token = user_models_files.take(data)
            plans = user_models_files.preview(token)
            ticks = ticked(plans, options)
            done = plans if options["dry_run"] else user_models_files.merge(token, ticks)
        except (ConfigError, NotFound) as error:
            raise CommandError(str(error)) from error
        self.stdout.write("\n".join(map(entry_line, done)))
        self.stdout.write("Nothing was changed: a dry run." if options["dry_run"] else "Merged.")


def ticked(plans: tuple[MergePlan, ...], options: dict[str, Any]) -> MergeConsent:
    """Return the choices of the command line, for every entry alike. Raises ConfigError, NotFound."""
    person = options["person"]
    actor = first_admin.id_of(person) if person else None
    wants = options["confirm"] or options["outrank"]
    if wants and actor is None:
        raise ConfigError("Name the person who decides: --as USERNAME.")
    if wants and Action.DECIDE_FOR_ALL not in actions_of(actor or 0):
        raise ConfigError(f"{person} may not decide for everyone.")
    everything = frozenset(plan.index for plan in plans)
    none = frozenset[int]()
    return MergeConsent(actor, everything if options["confirm"] else none, everything if options["outrank"] else none)


def entry_line(plan: MergePlan) -> str:
    """Return one line that describes an entry."""
    changes = [
        f"{change.field}: {change.before!r} → {change.after!r}{f' (needs --{change.needs})' if change.needs else ''}"
        for change in plan.changes
    ]
    where = f" on {plan.server}" if plan.server else ""
    words = "; ".join(changes) or plan.note or ("a new model" if plan.state == "new" else "nothing new")
    return f"{plan.entry.id}{where} ({plan.state}): {words}"
