"""The order of a study's conditions: that of the command which ran them."""

import re
import sys
from collections.abc import Iterable
from typing import Any, TypeVar

from plenum.design.kinds import find_kind

Run = TypeVar("Run", bound=Any)

ORDER_TAG = "plenum.order"
"""The tag with a condition's place in the study, as the sweep's command has it."""

_NUMBERED = re.compile(r"[a-z]?(\d+(?:\.\d+)?(?:e-?\d+)?)")
"""A level that is a number, with the letter of its factor, as in ``k15`` and ``t1e-4``."""


def order_runs(runs: Iterable[Run]) -> list[Run]:
    """Order the runs of conditions as the sweep's command has them, wherever it found the answers.

    Runs of earlier versions don't say their place. They are ordered by their factors, numbers as
    numbers and words as they were first met, and follow those that say it.
    """
    met: dict[str, int] = {}

    def place(level: str) -> tuple[bool, float]:
        number = _NUMBERED.fullmatch(level)
        # Pairs, so that numbers sort among themselves and before words.
        return not number, float(number[1]) if number else met.setdefault(level, len(met))

    def key(run: Run) -> tuple[int, list[tuple[bool, float]]]:
        params = run.data.params
        levels = [place(params.get(name, "")) for name in find_kind(params).factors]
        return int(run.data.tags.get(ORDER_TAG, sys.maxsize)), levels

    return sorted(runs, key=key)
