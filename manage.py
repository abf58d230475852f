#!/usr/bin/env python3
"""The command line of the project."""

from toolsupport.__main__ import main

if __name__ == "__main__":
    main()
