"""The rules by name: what each would have decided in recorded deliberations, and what it costs."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from plenum_rules import stopping_rules
from plenum_rules.aggregation import AGGREGATIONS, NONE, Floats, Options, decide_for_seat
from plenum_rules.committees import votes_differ
from plenum_rules.comparisons import PairedDifference, pair_decisions, pair_statistic
from plenum_rules.recorded_runs import UNKNOWN, RecordedRuns

CHAIR = "Chair"
"""The seat whose word is one of the controls, where a committee has it."""


@dataclass(frozen=True)
class RuleOutcome:
    """A rule in one condition.

    Attributes
    ----------
    paired
        Its disagreement and the protocol's.
    changed, undecided
        The share of runs whose decision differs from the protocol's, and that decide for nothing.
    rounds, tokens
        Rounds that a decision takes, and tokens as a share of the protocol's.
    """

    paired: PairedDifference
    changed: float
    undecided: float
    rounds: float
    tokens: float


@dataclass(frozen=True)
class Rule:
    """A rule of aggregation, a rule of stopping, or a control.

    Attributes
    ----------
    name, kind, meaning
        Its name, ``aggregation``, ``stopping`` or ``control``, and what it does in a few words.
    evaluate
        Returns its outcome in a condition; ``None`` where the condition lacks what it needs.
    """

    name: str
    kind: str
    meaning: str
    evaluate: Callable[[RecordedRuns], RuleOutcome | None]


def _decide(
    recorded: RecordedRuns, decisions: Options, rounds: float, tokens: float | None = None
) -> RuleOutcome:
    return RuleOutcome(
        paired=pair_decisions(decisions, recorded.decided),
        changed=float((decisions != recorded.decided).mean()),
        undecided=float((decisions == NONE).mean()),
        rounds=rounds,
        tokens=rounds / recorded.rounds if tokens is None else tokens,
    )


def _aggregate(name: str, recorded: RecordedRuns) -> RuleOutcome:
    return _decide(recorded, AGGREGATIONS[name](recorded.last), recorded.rounds)


def _ask_clerk(recorded: RecordedRuns) -> RuleOutcome | None:
    """Take the clerk's word, or the majority where it can't be read, as live committees do."""
    unread = recorded.clerk == UNKNOWN
    if unread.all():
        return None
    decided = np.where(unread, AGGREGATIONS["majority"](recorded.last), recorded.clerk)
    return _decide(recorded, decided, recorded.rounds)


def _stop(when: Callable[[Floats], Options], recorded: RecordedRuns) -> RuleOutcome:
    stopped = when(recorded.preferences)
    decisions = AGGREGATIONS["majority"](recorded.after(stopped))
    spent = float(recorded.spend(stopped).mean())
    return _decide(recorded, decisions, float(stopped.mean()), spent)


def _stop_together(recorded: RecordedRuns) -> RuleOutcome:
    """Stop all runs at their plateau; without a run it may be another, hence no variance."""
    found = _stop(stopping_rules.stop_at_plateau, recorded)
    unknown = np.full(len(recorded.decided), np.nan)
    return replace(found, paired=replace(found.paired, left_out=unknown))


def _vote(members: int, recorded: RecordedRuns) -> RuleOutcome | None:
    decided = recorded.decided
    if len(decided) <= 2 * members:  # one more, since the jackknife leaves one out
        return None
    abstained = bool((decided == NONE).any())

    def split(counts: tuple[int, ...]) -> tuple[tuple[int, ...], int]:
        return (counts[1:], counts[0]) if abstained else (counts, 0)

    paired = pair_statistic(lambda counts: votes_differ(*split(counts), members)[0], decided)
    counts = tuple(np.unique(decided, return_counts=True)[1].tolist())
    _, changed = votes_differ(*split(counts), members)
    return RuleOutcome(paired, changed, float("nan"), recorded.rounds * members, members)


def _always_first(recorded: RecordedRuns) -> RuleOutcome:
    return _decide(recorded, np.zeros_like(recorded.decided), 0)


def _dictate(seat: str | None, recorded: RecordedRuns) -> RuleOutcome | None:
    named = recorded.seats[0] if seat is None else seat
    if named not in recorded.seats:
        return None
    decisions = decide_for_seat(recorded.votes, recorded.seats.index(named))
    return _decide(recorded, decisions, recorded.rounds)


_STOPPING: dict[str, tuple[str, Callable[[Floats], Options]]] = {
    **{
        f"round_{n}": (
            f"the majority after round {n}",
            partial(stopping_rules.stop_at_round, number=n),
        )
        for n in (3, 5, 10)
    },
    **{
        f"stable_{n}": (
            f"a majority stood {n} rounds",
            partial(stopping_rules.stop_at_stable_majority, rounds=n),
        )
        for n in (2, 3, 5)
    },
    "unanimity": ("all seats have one option on top", stopping_rules.stop_at_unanimity),
}

_AGGREGATION = {
    "majority": "more than half of the ballots",
    "supermajority": "two thirds of the ballots",
    "states": "half of the last states' tops",
    "mean": "top of the mean state",
    "median": "top of the median state",
    "confidence": "mean state by confidence",
    "borda": "Borda's count of last states",
}

RULES: tuple[Rule, ...] = (
    *(Rule(n, "aggregation", m, partial(_aggregate, n)) for n, m in _AGGREGATION.items()),
    Rule("clerk", "aggregation", "what the clerk said", _ask_clerk),
    *(
        Rule(f"vote_of_{m}", "aggregation", f"majority of {m} committees", partial(_vote, m))
        for m in (3, 5)
    ),
    *(Rule(n, "stopping", meaning, partial(_stop, w)) for n, (meaning, w) in _STOPPING.items()),
    Rule("plateau", "stopping", "votes of all runs change no more", _stop_together),
    Rule("constant", "control", "always the first option", _always_first),
    Rule("first_speaker", "control", "the first speaker's ballot", partial(_dictate, None)),
    Rule("chair", "control", "the Chair's ballot", partial(_dictate, CHAIR)),
    Rule(
        "round_1",
        "control",
        "the majority after round 1",
        partial(_stop, partial(stopping_rules.stop_at_round, number=1)),
    ),
)
"""Every rule, in the order in which tables list them."""
