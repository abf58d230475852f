#!/usr/bin/env python3
"""The command line of the project."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "toolsupport.config.settings")
    from django.core.management import execute_from_command_line

    from toolsupport.core.errors import ConfigError

    try:
        execute_from_command_line(sys.argv)
    except ConfigError as error:  # a setting cannot be used: the reason is enough, a traceback would bury it
        sys.exit(f"Error: {error}")


if __name__ == "__main__":
    main()
