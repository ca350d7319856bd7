"""Claims in words: verdicts on runs whose answer is known."""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from plenum_papers.published import claims
from plenum_papers.published.cells import Cell, Cells, Key, NoFileError
from plenum_papers.published.claims import CLAIMS, TEMPERATURES, key

BY_CLAIM = {claim.claim: claim for claim in CLAIMS}


@dataclass(frozen=True)
class Runs:
    """Runs that are known, in place of released ones."""

    preferences: NDArray[np.float64]


class Known(dict[Key, Cell]):
    """Cells of known runs."""

    def __missing__(self, missing: Key) -> Cell:
        raise NoFileError(" ".join(missing))


def known(runs: dict[Key, NDArray[np.float64]]) -> Cells:
    return Known({each: cast(Cell, Runs(array)) for each, array in runs.items()})


def wavering(rate: float, seed: int) -> NDArray[np.float64]:
    """Twenty runs of five seats whose distance grows at about a rate a round."""
    draws = np.random.default_rng(seed)
    own = draws.normal(rate, 0.03, (20, 1, 1, 1)) * np.arange(20)[:, None, None]
    away = draws.normal(0, 0.01, (20, 1, 1, 3)) * np.exp(own)
    return np.repeat(1 / 3 + away + draws.normal(0, 1e-4, (20, 20, 1, 3)), 5, axis=2)


def votes(tops: list[list[int]]) -> NDArray[np.float64]:
    """Runs of five rounds whose five seats have an option on top, by round."""
    return np.stack([np.stack([np.eye(3)[[top] * 3 + [0, 1]] for top in run]) for run in tops])


@pytest.mark.parametrize(
    ("with_roles", "without", "runs", "verdict"),
    [(0.09, 0.02, 20, "shown"), (0.02, 0.09, 20, "contradicted"), (0.045, 0.02, 3, "not shown")],
)
def test_an_effect_is_shown_by_its_test_and_sign(
    with_roles: float, without: float, runs: int, verdict: str
) -> None:
    rates = {"on": with_roles, "off": without}
    cells = known(
        {
            key("HL-01", roles): wavering(rate, n)[:runs]
            for n, (roles, rate) in enumerate(rates.items())
        }
    )
    found, text = BY_CLAIM["HL-01: roles raise λ̂ of a uniform committee"].decide(cells)
    assert found == verdict, text


def test_one_run_with_a_later_majority_contradicts_without_exception() -> None:
    claim = BY_CLAIM["IM-01 without roles: every run has a majority in round 1"]
    always = [[0] * 5] * 4
    cells = {key("IM-01", "off", temperature=t): votes(always) for t in TEMPERATURES}
    assert claim.decide(known(cells)) == ("holds", "0 of 32 runs later, or never")
    split = votes(always)
    split[0, 0] = np.eye(3)[[0, 0, 1, 1, 2]]
    cells[key("IM-01", "off")] = split
    assert claim.decide(known(cells)) == ("contradicted", "1 of 32 runs later, or never")


def test_what_a_clone_lacks_is_listed_and_not_decided() -> None:
    decided, lacking = claims.decide_claims(known({}))
    assert decided == []
    assert len(lacking) == len(CLAIMS)


def test_verdicts_are_counted() -> None:
    some: list[Any] = [
        claims.DecidedClaim(CLAIMS[0], verdict, "")
        for verdict in ("shown", "not shown", "contradicted", "contradicted", "holds")
    ]
    assert claims.count_verdicts(some, ["one"]) == {
        "claims": 5, "claims_not_shown": 1, "claims_contradicted": 2, "claims_undecided": 1
    }  # fmt: skip
