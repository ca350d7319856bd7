"""Errors that a user can cause."""


class UserError(Exception):
    """A mistake in the input, told in one line: key, value, and what is allowed.

    The front doors (``run.py`` and the scripts) print the line and exit with status 2.
    """

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(str(message).split()))


class Stopped(Exception):
    """Something that makes every further call pointless, such as a refused key: a sweep stops."""
