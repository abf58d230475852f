"""Runs a management command whose tests of models ask the same question each time: a reciting model can answer it.

python same_chance.py COMMAND …
"""

from __future__ import annotations

import os
import random
import sys
from types import SimpleNamespace


class SameChance(random.Random):
    """Draws the first of all there is."""

    def random(self) -> float:
        return 0.0

    def getrandbits(self, k: int, /) -> int:
        return 0


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "toolsupport.config.settings")
    import django

    django.setup()
    from django.core.management import execute_from_command_line

    from toolsupport.services import detection_worker

    vars(detection_worker)["random"] = SimpleNamespace(Random=SameChance)
    execute_from_command_line(sys.argv)
