"""Shapes: every matrix that a row meets has a size that follows from the row alone.

A kernel may add in another order when a matrix has another size, and then the last bits of a
logit change. So the numbers of rows are fixed, and lengths are rounded up by the row's own length.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Shapes:
    """How many rows are computed together, and to what their lengths are rounded up.

    Parameters
    ----------
    slots
        Rows that decode together.
    prefill_rows
        Prompts that are prefilled together.
    bucket
        Prompts are padded to a multiple of this many tokens.
    rung
        Caches hold a multiple of this many tokens.
    """

    slots: int
    prefill_rows: int
    bucket: int
    rung: int


@dataclass(frozen=True)
class Room:
    """Where a row lies in its cache, in tokens: ``[prefix | padding | rest, then answer]``.

    Parameters
    ----------
    prefix
        Places of the prefix, padding included.
    rest
        Places of the rest of the prompt, padding included, without its last token: that is the
        first one to be decoded. The answer overwrites the padding.
    capacity
        Places in all.
    """

    prefix: int
    rest: int
    capacity: int


def room(shapes: Shapes, prefix: int, rest: int, answer: int) -> Room:
    """The room of a row with so many tokens of prefix, rest of the prompt, and answer at most."""
    ahead = _up(prefix, shapes.bucket)
    filled = _up(rest - 1, shapes.bucket)
    return Room(ahead, filled, _up(ahead + max(filled, rest + answer), shapes.rung))


def _up(length: int, step: int) -> int:
    return -(-length // step) * step
