"""What doesn't fit a page goes on the next one."""

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def chunks(items: Sequence[T], most: int) -> list[Sequence[T]]:
    """Items in their order, at most so many at once."""
    return [items[start : start + most] for start in range(0, len(items), most)]
