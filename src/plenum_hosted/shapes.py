"""Shapes of matrices: every matrix that a row meets has a size that follows from the row alone.

A kernel may add in another order when a matrix has another size, which changes the last bits of a
logit. So the numbers of rows are fixed, and lengths are rounded up by the row's own length.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Shapes:
    """Numbers of rows that are computed together, and the units that lengths are rounded up to.

    Parameters
    ----------
    slots
        Rows that decode together.
    prefill_rows
        Prompts that are prefilled together.
    bucket
        Prompts are padded to a multiple of this many tokens.
    rung
        Caches hold a multiple of this many tokens; rows of equal capacity decode together.
    """

    slots: int
    prefill_rows: int
    bucket: int
    rung: int


@dataclass(frozen=True)
class Room:
    """Layout of a row in its cache, in tokens: ``[prefix | padding | rest, then answer]``.

    Parameters
    ----------
    prefix
        Places of the prefix, including padding.
    rest
        Places of the rest of the prompt, including padding, without its last token, which is the
        first one to be decoded. The answer overwrites the padding.
    capacity
        Places in all.
    """

    prefix: int
    rest: int
    capacity: int


def room(shapes: Shapes, prefix: int, rest: int, answer: int) -> Room:
    """Return the layout of a row, given its tokens of prefix, rest, and answer at most."""
    # By the row's own lengths: what others have must not change a matrix that this one meets.
    ahead = _up(prefix, shapes.bucket)
    filled = _up(rest - 1, shapes.bucket)
    # The answer overwrites the padding of the rest: the longer of the two counts.
    return Room(ahead, filled, _up(ahead + max(filled, rest + answer), shapes.rung))


def _up(length: int, step: int) -> int:
    return -(-length // step) * step
