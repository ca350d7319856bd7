"""Errors that a user can cause."""


class UserError(Exception):
    """A mistake in the input, described in one line: the key, the value, and what is allowed.

    The front doors (``run.py`` and the scripts) print the line and exit with status 2.

    Examples
    --------
    >>> import plenum
    >>> try:
    ...     plenum.study("no such study")
    ... except plenum.UserError as error:
    ...     print("refused:", "no such study" in str(error))
    refused: True
    """

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(str(message).split()))


class Stopped(Exception):
    """An error that makes every further call pointless, such as a refused key. The sweep stops."""
