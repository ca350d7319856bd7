"""A million replies, read by plenum and by a strict reading of docs/protocol.md: do they agree?"""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from random import Random
from typing import Any

from attacks import reading, replies
from plenum.base import replace_surrogates
from plenum.committee import Malformed, ballots
from plenum.committee import state as stateline

_CHUNK = 5_000
_EXAMPLES = 5
_KINDS = (
    *((replies.turn, "state"),) * 6,
    *((replies.ballot, "ballot"),) * 2,
    *((replies.count, "count"),),
)


@dataclass
class Outcome:
    """How many replies were read, accepted by the page, and misread; some of the latter."""

    tally: Counter[str] = field(default_factory=Counter)
    examples: list[dict[str, str]] = field(default_factory=list)

    def add(self, other: "Outcome") -> None:
        self.tally += other.tally
        self.examples = (self.examples + other.examples)[:_EXAMPLES]


def run(n: int = 1_000_000, seed: int = 0, processes: int = 2) -> dict[str, Any]:
    """Read ``n`` replies twice.

    Returns
    -------
    dict
        ``fuzz_misread``: replies that one reading accepts and the other refuses, or reads as
        something else, and those that raise anything but ``Malformed``. ``fuzz_replies``,
        ``fuzz_accepted`` and ``fuzz_refused`` by the page; ``examples``: a few misread ones.
    """
    sizes = [min(_CHUNK, n - start) for start in range(0, n, _CHUNK)]
    jobs = [(size, f"{seed}/{number}") for number, size in enumerate(sizes)]
    outcome = Outcome()
    if processes == 1:
        for job in jobs:
            outcome.add(_chunk(job))
    else:
        with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
            for part in pool.map(_chunk, jobs):
                outcome.add(part)
    return {
        "fuzz_replies": outcome.tally["replies"],
        "fuzz_accepted": outcome.tally["accepted"],
        "fuzz_refused": outcome.tally["replies"] - outcome.tally["accepted"],
        "fuzz_misread": outcome.tally["misread"],
        "examples": outcome.examples,
    }


def _chunk(job: tuple[int, str]) -> Outcome:
    size, seed = job
    random, outcome = Random(seed), Outcome()
    for _ in range(size):
        make, kind = random.choice(_KINDS)
        text, options = make(random)
        page = _page(kind, text, options)
        plenum = _plenum(kind, replace_surrogates(text), options)
        outcome.tally["replies"] += 1
        outcome.tally["accepted"] += page[0] == "read"
        if not _same(page, plenum):
            outcome.tally["misread"] += 1
            if len(outcome.examples) < _EXAMPLES:
                outcome.examples.append(
                    {
                        "kind": kind,
                        "text": ascii(text)[:500],
                        "page": f"{page}",
                        "plenum": f"{plenum}",
                    }
                )
    return outcome


def _page(kind: str, text: str, options: int) -> tuple[Any, ...]:
    labels = tuple(replies.LABELS[:options])
    try:
        if kind == "state":
            argument, state = reading.read_state(text, options)
            return "read", argument, state.preferences, state.confidence, state.tags
        read: Callable[..., Any] = reading.read_ballot if kind == "ballot" else reading.read_count
        return "read", read(text, labels)
    except reading.Refused:
        return "refused", reading.kept_of_refused(text) if kind == "state" else ""


def _plenum(kind: str, text: str, options: int) -> tuple[Any, ...]:
    labels = tuple(replies.LABELS[:options])
    try:
        if kind == "state":
            argument, state = stateline.parse_answer(text, options)
            return "read", reading.words(argument), state.pref, state.conf, state.tags
        if kind == "ballot":
            ballot = ballots.parse_ballot(text, labels)
            return "read", (ballot.decision, ballot.confidence)
        count = ballots.parse_count(text, labels)
        return "read", (count.decision, count.majority_count, count.total)
    except Malformed:
        kept = stateline.strip_state(text) if kind == "state" else ""
        return "refused", reading.words(kept)
    except Exception as error:  # a bug: no reply may raise anything else
        return "raised", f"{error!r}"[:200]


def _same(page: tuple[Any, ...], plenum: tuple[Any, ...]) -> bool:
    if page[0] != "read" or plenum[0] != "read" or len(page) == 2:
        return page == plenum
    near = [abs(float(a) - b) < 1e-12 for a, b in zip(page[2], plenum[2], strict=True)]
    return all(near) and (page[1], *page[3:]) == (plenum[1], *plenum[3:])
