"""Arguments without content: sentences of another case, as long as what was said.

They keep form and length of what a seat reads, and take the reasons away (the control of rationales
from unrelated problems; Bertalanič and Fortuna 2026, arXiv 2605.00914).
"""

from itertools import cycle, islice

from plenum.base.identity import make_generator
from plenum.base.project import resolve_path
from plenum.scenarios.scenario import Scenario, load_scenario

_CASES = ("HL-01", "IM-01")
"""The cases that sentences are taken from: the first one of another domain."""


def load_placebo(scenario: Scenario) -> tuple[str, ...]:
    """Load the sentences of another case than this one that name none of its options.

    Raises
    ------
    UserError
        Its file can't be read.
    """
    cases = (load_scenario(resolve_path(f"scenarios/{name}.yaml")) for name in _CASES)
    other = next(case for case in cases if case.domain != scenario.domain)
    return other.situation, *other.affected, *other.constraints


def write_placebo(sentences: tuple[str, ...], words: int, *names: str | int) -> str:
    """Write an argument of these sentences.

    Parameters
    ----------
    sentences
        In any order, each at least a word.
    words
        Its exact length.
    names
        What its order is drawn for: equal names give equal arguments.

    Returns
    -------
    str
        The sentences in an order that is drawn, over and over until it is long enough.

    Examples
    --------
    >>> from plenum.committee.placebo import write_placebo
    >>> write_placebo(("Nurses are few.", "Rents rise."), 7, "Chair", 1)
    'Rents rise. Nurses are few. Rents rise.'
    """
    order = make_generator("placebo", *names).permutation(len(sentences))
    drawn = " ".join(sentences[place] for place in order).split()
    return " ".join(islice(cycle(drawn), words))
