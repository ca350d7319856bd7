"""Where runs of a program part: at the endpoint, which answers equal prompts differently, or in the
program, which asks differently; and whether a cache answers in a model's place.

All functions take the columns of the table ``calls`` of one condition, as lists by name: what
``DataFrame.to_dict("list")`` gives. ``prompt`` and ``answer`` are digests.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

Columns = Mapping[Any, Sequence[Any]]
Codes = NDArray[np.int64]

LEAST_REPEATS = 5
"""So many repeated prompts must be answered alike before a cache is suspected."""
LEAST_ALIKE = 2
"""Runs with the same prompts on either side of a change of the program."""

LEAST_TOKENS = 24
"""Shorter answers, such as a label, may be equal without one."""


@dataclass(frozen=True)
class Place:
    """A call at which pairs of runs first part.

    Attributes
    ----------
    seat, round
        Whose call it is, and the seat's how many-th.
    pairs
        Pairs of runs that part there.
    unprovoked
        Those of them whose prompts differ there already, though nothing before did: the program
        itself isn't deterministic.
    """

    seat: str
    round: int
    pairs: int
    unprovoked: int


@dataclass(frozen=True)
class Parting:
    """Where instability comes from, over all pairs of runs.

    Attributes
    ----------
    runs, pairs, parted
        Runs, their pairs, and the pairs that part at all.
    repeated
        Pairs of calls from different runs with equal prompts.
    endpoint
        Share of them with different answers; ``None`` where there are none.
    places
        Where pairs first part, the most frequent first.
    differing
        Calls behind the first parting that are answered differently.
    amplification
        Share of them that were asked differently: what parted went on. ``None`` where there are
        none.
    """

    runs: int
    pairs: int
    parted: int
    repeated: int
    endpoint: float | None
    places: tuple[Place, ...]
    differing: int
    amplification: float | None


def parting(calls: Columns) -> Parting:
    """Compare all pairs of runs, call by call: calls are matched by seat and round.

    Parameters
    ----------
    calls
        With ``replicate``, ``call``, ``seat``, ``round``, ``prompt``, ``answer``.
    """
    keys, prompted, answered, order = _aligned(calls)
    runs = len(prompted)
    places: Counter[int] = Counter()
    unprovoked: Counter[int] = Counter()
    differing = asked_differently = 0
    for i, j in combinations(range(runs), 2):
        prompts, answers = prompted[i] != prompted[j], answered[i] != answered[j]
        parted = prompts | answers
        if not parted.any():
            continue
        when = order[i] + order[j]
        first = int(np.where(parted, when, np.iinfo(np.int64).max).argmin())
        places[first] += 1
        unprovoked[first] += int(prompts[first])
        both = (answered[i] >= 0) & (answered[j] >= 0)
        later = answers & both & (when > when[first])
        differing += int(later.sum())
        asked_differently += int((later & prompts).sum())
    repeated, unequal = _repeats(calls)
    return Parting(
        runs=runs,
        pairs=runs * (runs - 1) // 2,
        parted=places.total(),
        repeated=repeated,
        endpoint=unequal / repeated if repeated else None,
        places=tuple(
            Place(*keys[key], pairs, unprovoked[key]) for key, pairs in places.most_common()
        ),
        differing=differing,
        amplification=asked_differently / differing if differing else None,
    )


def uncalled(calls: Columns, runs: int) -> str:
    """Why the program must keep answers from run to run; empty where it needn't.

    It must where :data:`LEAST_REPEATS` of its runs, or more, made no call, and others did.

    Parameters
    ----------
    calls
        With ``replicate``.
    runs
        Completed ones.
    """
    called = len(set(calls["replicate"]))
    if not called or runs - called < LEAST_REPEATS:
        return ""
    return f"{runs - called} of {runs} runs made no call, and {called} did: the program has a cache"


def begun_later(calls: Columns) -> str:
    """Why the program must keep what its first run found; empty where it needn't.

    Before its first answer nothing tells one run from another, so that all begin alike, or at
    random. It must keep something where none of :data:`LEAST_REPEATS` later runs, or more, makes
    the call with which the first run began, and each begins with one that the first run came to
    later: by seats, or by prompts. Runs that leave out some seat, or call in any order, don't.

    Parameters
    ----------
    calls
        With ``replicate``, ``call``, ``seat`` and ``prompt``.
    """
    runs: defaultdict[int, list[tuple[int, str, str]]] = defaultdict(list)
    for run, *call in _rows(calls, ("replicate", "call", "seat", "prompt")):
        runs[int(run)].append((int(call[0]), str(call[1]), str(call[2])))
    ordered = [sorted(runs[run]) for run in sorted(runs)]
    if len(ordered) <= LEAST_REPEATS:
        return ""
    for part in (1, 2):
        (start, *rest), *later = ([call[part] for call in run] for run in ordered)
        if all(run[0] in rest and start not in run for run in later):
            return (
                f"{len(later)} later runs begin with a call that the first one came to after "
                "others, and never make those: the program keeps what they answered"
            )
    return ""


def cached(calls: Columns) -> str:
    """Why the answers must come from a cache; empty where they needn't.

    They must where a seat's runs repeat prompts at a temperature above 0 (one that isn't sent is)
    and every repeat, :data:`LEAST_REPEATS` or more, has the very answer of the first. Calls with a
    seed of the program's and answers of fewer than :data:`LEAST_TOKENS` tokens prove nothing.

    Parameters
    ----------
    calls
        With ``replicate``, ``model``, ``seat``, ``prompt``, ``answer``, ``temperature``, ``draw``
        and ``tokens_out``.
    """
    names = ("replicate", "seat", "model", "prompt", "answer", "temperature", "draw", "tokens_out")
    seats: defaultdict[str, defaultdict[tuple[str, str], dict[Any, Any]]]
    seats = defaultdict(lambda: defaultdict(dict))
    for run, seat, model, prompt, answer, temperature, draw, tokens in _rows(calls, names):
        if temperature != 0 and not draw and tokens >= LEAST_TOKENS:
            seats[seat][model, prompt].setdefault(run, answer)
    for seat, groups in seats.items():
        compared = [answers for answers in groups.values() if len(answers) > 1]
        repeats = sum(len(answers) - 1 for answers in compared)
        differ = any(len(set(answers.values())) > 1 for answers in compared)
        if repeats >= LEAST_REPEATS and not differ:
            return (
                f"all {repeats} repeats of {len(compared)} prompts of {seat} at a temperature "
                "above 0 have the very bytes of the first answer: a cache answers, not the model"
            )
    return ""


def changed_at(prompts: Sequence[frozenset[Any]]) -> int | None:
    """The first run with other prompts, where all before share theirs and all from it on share
    others; ``None`` where there is none.

    Parameters
    ----------
    prompts
        Of each run in order: its models with their system prompts.
    """
    first = next((n for n, each in enumerate(prompts) if each != prompts[0]), 0)
    before, after = prompts[:first], prompts[first:]
    if len(before) < LEAST_ALIKE or len(after) < LEAST_ALIKE or len(set(after)) > 1:
        return None
    return first


def _rows(calls: Columns, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    return zip(*(calls[name] for name in names), strict=True)


def _aligned(calls: Columns) -> tuple[list[tuple[str, int]], Codes, Codes, Codes]:
    """Seats and rounds; and prompts, answers and places by run, as numbers, -1 where none is."""
    keys: dict[tuple[str, int], int] = {}
    runs: dict[Any, int] = {}
    codes: dict[str, int] = {}
    cells = []
    for run, place, *key, prompt, answer in _rows(
        calls, ("replicate", "call", "seat", "round", "prompt", "answer")
    ):
        row = runs.setdefault(run, len(runs))
        column = keys.setdefault((str(key[0]), int(key[1])), len(keys))
        texts = (codes.setdefault(text, len(codes)) for text in (prompt, answer))
        cells.append((row, column, int(place), *texts))
    shape = (len(runs), len(keys))
    prompted, answered = np.full(shape, -1), np.full(shape, -1)
    order = np.full(shape, -1)
    for row, column, place, prompt, answer in cells:
        prompted[row, column], answered[row, column], order[row, column] = prompt, answer, place
    last = order.max(axis=0, initial=0)
    return [*keys], prompted, answered, np.where(order < 0, last, order)


def _repeats(calls: Columns) -> tuple[int, int]:
    """Pairs of calls of different runs with equal prompts, and those with different answers."""
    prompts: Counter[Any] = Counter()
    answers: Counter[Any] = Counter()
    prompts_in_run: Counter[Any] = Counter()
    answers_in_run: Counter[Any] = Counter()
    for run, *prompted, answer in _rows(calls, ("replicate", "model", "prompt", "answer")):
        prompt = tuple(prompted)
        prompts[prompt] += 1
        answers[prompt, answer] += 1
        prompts_in_run[prompt, run] += 1
        answers_in_run[prompt, answer, run] += 1
    pairs = _pairs(prompts) - _pairs(prompts_in_run)
    return pairs, pairs - (_pairs(answers) - _pairs(answers_in_run))


def _pairs(counts: Counter[Any]) -> int:
    return sum(count * (count - 1) // 2 for count in counts.values())
