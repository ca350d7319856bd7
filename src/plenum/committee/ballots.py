"""Private ballots, the clerk's answer, the tally, and the rule by which a committee decides."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from plenum.base.extensions import Registry
from plenum.base.json_reply import read_object
from plenum.committee.state import Malformed, State

NONE = "NONE"
"""The decision of a committee in which no option has more than half of the ballots."""


@dataclass(frozen=True)
class AnswerForm:
    """The format of the JSON objects that ballots and clerk answer with.

    Attributes
    ----------
    vote, confidence
        The keys of a ballot that are read.
    closed
        True if there may be no others, and STATE lines are read strictly. Otherwise the clerk names
        a decision, and under ``vote`` the number of votes of each option.
    """

    vote: str
    confidence: str
    closed: bool


SHORT = AnswerForm("decision", "confidence", closed=True)
FORMS = {"short": SHORT, "reasoned": AnswerForm("vote", "confidence_0_100", closed=False)}
"""The forms of answers by name: a vote alone, or one with its reasons."""


@dataclass(frozen=True)
class Ballot:
    """A vote for one option, with a confidence of 0-100."""

    decision: str
    confidence: int


@dataclass(frozen=True)
class Count:
    """A decision with the votes behind it: the tally's, or the clerk's."""

    decision: str
    majority_count: int
    total: int


@dataclass(frozen=True)
class EndedDeliberation:
    """A deliberation whose ballots are in.

    Attributes
    ----------
    labels
        The options.
    votes, states
        The ballots' options and the last states, one a seat in speaking order.
    tally, clerk
        The ballots as they were counted, and as the clerk counted them; ``None`` if its answer
        can't be read.
    """

    labels: tuple[str, ...]
    votes: tuple[str, ...]
    states: tuple[State, ...]
    tally: Count
    clerk: Count | None


Rule = Callable[[EndedDeliberation], str]
"""A function that returns the label of an option, or ``NONE``."""

RULES: Registry[Rule] = Registry("plenum.decision_rules", "protocol.decision")
"""The rules by name: plenum's, then those that packages add."""

RULES.add("majority", lambda ended: ended.tally.decision)
# A clerk whose answer can't be read has decided nothing: the ballots as counted stand for it.
RULES.add("clerk", lambda ended: (ended.clerk or ended.tally).decision)


def ballot_form(labels: tuple[str, ...]) -> str:
    """Describe the form of a ballot, for prompts."""
    return f'{{"decision": {_choices(labels)}, "confidence": NN}}'


def clerk_form(labels: tuple[str, ...]) -> str:
    """Describe the form of the clerk's answer, for prompts."""
    return f'{{"decision": {_choices((*labels, NONE))}, "majority_count": N, "total": N}}'


def _choices(labels: tuple[str, ...]) -> str:
    return "|".join(f'"{label}"' for label in labels)


def parse_ballot(text: str, labels: tuple[str, ...], form: AnswerForm = SHORT) -> Ballot:
    """Read a ballot.

    Raises
    ------
    Malformed
        It is no JSON object with the keys of the form, or a value isn't allowed.
    """
    data = read_object(text, {form.vote, form.confidence}, Malformed, closed=form.closed)
    return Ballot(_choice(data[form.vote], labels), _whole(data, form.confidence, 100))


def parse_count(text: str, labels: tuple[str, ...], form: AnswerForm = SHORT) -> Count:
    """Read the clerk's answer.

    Raises
    ------
    Malformed
        It is no JSON object with ``decision``, ``majority_count`` and ``total``, or in an open form
        with ``decision`` and votes by option.
    """
    # The open form is that of the released prompts, which ask the clerk for all votes by option.
    if not form.closed:
        return _count(read_object(text, {"decision", "vote"}, Malformed, closed=False), labels)
    data = read_object(text, {"decision", "majority_count", "total"}, Malformed)
    return Count(
        _choice(data["decision"], (*labels, NONE)),
        # More than any committee has seats: a bound keeps endless digits out of journals.
        _whole(data, "majority_count", 10_000),
        _whole(data, "total", 10_000),
    )


def tally(ballots: Sequence[Ballot]) -> Count:
    """Count ballots by simple majority: more than half of them decide, else ``NONE``.

    Raises
    ------
    ValueError
        There are no ballots.
    """
    if not ballots:
        raise ValueError("no ballots to count")
    decision, votes = Counter(b.decision for b in ballots).most_common(1)[0]
    # More than half of all ballots, not most of them: a plurality is no decision.
    return Count(decision if 2 * votes > len(ballots) else NONE, votes, len(ballots))


def read_contents(text: str) -> dict[str, Any]:
    """Return the JSON object of an answer that could be read.

    Raises
    ------
    Malformed
        It is none.
    """
    return read_object(text, set(), Malformed, closed=False)


def _count(data: dict[str, Any], labels: tuple[str, ...]) -> Count:
    votes = data["vote"]
    if not isinstance(votes, dict):
        raise Malformed("vote has no numbers of votes by option")
    # By its own labels: a clerk may leave out options without votes, and list NONE.
    counts = {label: _whole(votes, label, 10_000) for label in votes}
    decision = _choice(data["decision"], (*labels, NONE))
    return Count(decision, counts.get(decision, 0), sum(counts.values()))


def _choice(value: Any, labels: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in labels:
        raise Malformed(f"decision is not one of {', '.join(labels)}")
    return value


def _whole(data: dict[str, Any], key: str, most: int) -> int:
    value = data[key]
    # In Python true is a whole number.
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise Malformed(f"{key} is no whole number from 0 to {most}")
    return value
