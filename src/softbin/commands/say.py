"""What commands tell the user: on standard error, so that standard output is free for results."""

import sys


def say(text: str) -> None:
    """One line."""
    print(text, file=sys.stderr)
