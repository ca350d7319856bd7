"""Sources of divergence between runs, by their calls, and detection of caches.

Runs differ because the endpoint answers equal prompts differently, or because the program asks
differently. A cache may also replace the model. All functions take the columns of the table
``calls`` of one condition, as lists by name, from ``DataFrame.to_dict("list")``. ``prompt`` and
``answer`` are digests.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenum_verdicts.dynamics.parting_place import Place

Columns = Mapping[Any, Sequence[Any]]
Codes = NDArray[np.int64]

LEAST_REPEATS = 5
"""Smallest number of repeated prompts with equal answers to suspect a cache."""
LEAST_ALIKE = 2
"""Smallest number of runs with the same prompts before and after a change of the program."""

LEAST_TOKENS = 24
"""Shorter answers, such as a label, may be equal without a cache."""


@dataclass(frozen=True)
class CallDivergence:
    """Sources of instability over all pairs of runs.

    Attributes
    ----------
    runs, pairs, parted
        Numbers of runs, of their pairs, and of pairs that differ.
    repeated
        Number of pairs of calls from different runs with equal prompts.
    endpoint
        Share of them with different answers; ``None`` if there are none.
    places
        Calls at which pairs first differ, the most frequent first.
    differing
        Number of later calls that are answered differently.
    amplification
        Share of them that were asked differently, so that the difference propagated. ``None`` if
        there are none.
    """

    runs: int
    pairs: int
    parted: int
    repeated: int
    endpoint: float | None
    places: tuple[Place, ...]
    differing: int
    amplification: float | None


def compare_calls(calls: Columns) -> CallDivergence:
    """Compare all pairs of runs call by call, matched by seat and round.

    Parameters
    ----------
    calls
        Columns ``replicate``, ``call``, ``seat``, ``round``, ``prompt``, ``answer``.
    """
    keys, prompted, answered, order = _align(calls)
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
    return CallDivergence(
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


def find_cache_without_calls(calls: Columns, runs: int) -> str:
    """Return the evidence of a cache in runs without calls; empty if there is none.

    There is a cache if at least :data:`LEAST_REPEATS` runs made no call although others did.

    Parameters
    ----------
    calls
        Column ``replicate``.
    runs
        Number of completed runs.
    """
    called = len(set(calls["replicate"]))
    if not called or runs - called < LEAST_REPEATS:
        return ""
    return f"{runs - called} of {runs} runs made no call, and {called} did: the program has a cache"


def describe_kept_results(calls: Columns) -> str:
    """Return the evidence that the program keeps results of its first run; empty if none.

    Before its first answer nothing distinguishes runs, so that all begin alike, or at random. The
    program must keep something if at least :data:`LEAST_REPEATS` later runs exist, none makes the
    call with which the first run began, and each begins with a later call of the first run: by
    seat, or by prompt. Programs whose runs omit a seat, or call in any order, don't meet this
    condition.

    Parameters
    ----------
    calls
        Columns ``replicate``, ``call``, ``seat`` and ``prompt``.
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


def find_cache(calls: Columns) -> str:
    """Return the evidence that answers come from a cache; empty if there is none.

    There is a cache if a seat's runs repeat prompts at a temperature above 0 (the default counts as
    such) and every repeat, at least :data:`LEAST_REPEATS`, has exactly the first answer. Calls with
    a seed of the program's own and answers of fewer than :data:`LEAST_TOKENS` tokens prove nothing.

    Parameters
    ----------
    calls
        Columns ``replicate``, ``model``, ``seat``, ``prompt``, ``answer``, ``temperature``,
        ``draw`` and ``tokens_out``.
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


def find_change(prompts: Sequence[frozenset[Any]]) -> int | None:
    """Return the first run whose prompts differ, if all before and all later ones agree.

    ``None`` if there is no such run.

    Parameters
    ----------
    prompts
        Models with their system prompts, for each run in order.
    """
    first = next((n for n, each in enumerate(prompts) if each != prompts[0]), 0)
    before, after = prompts[:first], prompts[first:]
    if len(before) < LEAST_ALIKE or len(after) < LEAST_ALIKE or len(set(after)) > 1:
        return None
    return first


def _rows(calls: Columns, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    return zip(*(calls[name] for name in names), strict=True)


def _align(calls: Columns) -> tuple[list[tuple[str, int]], Codes, Codes, Codes]:
    """Return seats and rounds, then prompts, answers and places by run, as numbers or -1."""
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
    """Count pairs of calls of different runs with equal prompts, and those with unequal answers."""
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
