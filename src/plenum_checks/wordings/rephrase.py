"""Choice of the alternatives that rephrasings combine, drawn once and kept in variants files."""

import numpy as np

from plenum.base import UserError, make_generator
from plenum.scenarios import REPHRASINGS, Wordings

LEAST_SENTENCES = 4
_DRAWS = 400
_CHOICES = np.array([0, 0, 0, 1, 1, 1, 1, 2, 2, 2])  # of a sentence, over the ten rephrasings


def combinations(scenario: str, sentences: int, seed: int = 0) -> tuple[str, ...]:
    """Draw ten combinations of the sentences' alternatives that differ widely.

    Each changes at least half of the sentences, and each alternative of each sentence is used at
    least three times. Of many random arrangements the one whose closest pair differs most is
    selected.

    Parameters
    ----------
    scenario
        Its id, so that scenarios with equally many sentences get different combinations.
    sentences
        Number of sentences, 4 or more.
    seed
        Another seed gives other combinations.

    Returns
    -------
    tuple of str
        One digit per sentence: 0 for the sentence itself, 1 and 2 for its alternatives.
    """
    if sentences < LEAST_SENTENCES:
        raise UserError(f"rephrasings: {sentences} sentences; it takes {LEAST_SENTENCES} or more")
    draw, best, apart = make_generator("rephrasings", scenario, sentences, seed), None, 0
    ways = np.tile(_CHOICES, (sentences, 1))
    ways[1::2] = np.where(ways[1::2] > 0, 3 - ways[1::2], 0)  # the second way is as frequent
    while best is None:
        for _ in range(_DRAWS):
            table = draw.permuted(ways, axis=1).T
            if (2 * (table > 0).sum(axis=1) < sentences).any():
                continue
            distances = (table[:, None] != table[None]).sum(axis=2)
            closest = int(distances[np.triu_indices(REPHRASINGS, 1)].min())
            if closest > apart:
                best, apart = table, closest
    return tuple("".join(map(str, row)) for row in best)


def append_rephrasings(wordings: Wordings) -> bool:
    """Append rephrasings to a variants file; return false if it has some already."""
    if wordings.rephrasings:
        return False
    text = wordings.path.read_text(encoding="utf-8").rstrip("\n")
    rows = combinations(wordings.path.stem, len(wordings.sentences))  # ID.yaml, by ways_file
    lines = [f'  - "{digits}"' for digits in rows]
    block = "\n".join(["rephrasings:", *lines])
    wordings.path.write_text(f"{text}\n{block}\n", encoding="utf-8")
    return True
